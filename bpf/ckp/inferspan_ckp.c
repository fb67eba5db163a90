/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the header into a shared object, for languages that cannot include it. */
#include "inferspan_ckp.h"
