/* What the files about pictures share: the reasons of refusals, and the checks before decoding. */
#ifndef HEED_DATA_IMAGE_H
#define HEED_DATA_IMAGE_H

#include <heed/image.h>

/* Writes the reason; returns HEED_DATA. */
heed_status heed__picture_refuse(char why[HEED_WHY], const char *format, ...) HEED_PRINTF(2, 3);

#endif
