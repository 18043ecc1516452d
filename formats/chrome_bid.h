/* chrome_bid.h - whether a file is a Chrome trace, by its head. */
#ifndef IDS_FORMATS_CHROME_BID_H
#define IDS_FORMATS_CHROME_BID_H

#include <stddef.h>
#include <stdint.h>

/* As struct ids_format says of bids. */
int ids_chrome_bid(const uint8_t *head, size_t length, int *more);

#endif
