/* hlo_sharding.h - how an array is spread over devices (OpSharding of xla_data.proto), as HLO text has it. */
#ifndef IDS_FORMATS_HLO_SHARDING_H
#define IDS_FORMATS_HLO_SHARDING_H

#include "lib/base/intern.h"

/* "replicated", "maximal" (on one device), "devices=[8,1]", "devices=[2,4] replicate_last" (over the last number of
 * them it is repeated); "" where it is none of these. */
enum { IDS_HLO_SHARDING_TEXT = 96 };
void ids_hlo_sharding_text(struct ids_text sharding, char text[IDS_HLO_SHARDING_TEXT]);

#endif
