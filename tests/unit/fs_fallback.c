/* fs.c as it is where the system has none of the calls that we probe for. */

#include "config.h"
#undef HAVE_RENAMEAT2
#undef HAVE_FICLONE
#undef HAVE_MEMFD
#include "../../src/util/fs.c"
#include "fs.c"
