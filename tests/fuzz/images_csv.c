#define _DEFAULT_SOURCE /* getpid */
/* Lists of pictures: any bytes are a set of pictures or an error. The first byte says how to open.
 */
#include "images_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const uint8_t picture[54 + 16] = {
        'B', 'M', [10] = 54, [14] = 40, [18] = 2, [22] = 2, [26] = 1, [28] = 24, [54] = 99};
    if (n < 2) return 0;
    put("a.bmp", picture, sizeof picture);
    put("b.bmp", picture, sizeof picture);
    put("list.csv", data + 1, n - 1);
    open_and_use(place("list.csv"), data[0]);
    return 0;
}
