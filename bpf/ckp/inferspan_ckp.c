/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the functions of inferspan_ckp.h into a shared object, for languages that cannot include a C header, such as Python. */
#include "inferspan_ckp.h"
