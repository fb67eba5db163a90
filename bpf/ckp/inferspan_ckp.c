/* SPDX-License-Identifier: Apache-2.0 */
/* The header as a shared object, for languages that cannot include it. */
#include "inferspan_ckp.h"
