/* Read by the test contract.layer_includes, never compiled: what an analyzer may not do. */
#include "formats/xplane.h"
