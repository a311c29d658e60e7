/* parity-picture FILE: the picture as "WIDTH HEIGHT CHANNELS\n" and its bytes, or the reason,
 * status
 * 3. parity-picture FILE X Y W H WIDTH HEIGHT: that box resized, as float32. */
#include <heed/image.h>
#include <stdio.h>
#include <stdlib.h>

static int resize(const heed_picture *p, char **args) {
    heed_box box = {atof(args[0]), atof(args[1]), atof(args[2]), atof(args[3])};
    int width = atoi(args[4]), height = atoi(args[5]);
    size_t n = (size_t)width * (size_t)height * (size_t)p->channels;
    heed_real *out = malloc(n * sizeof *out);
    heed_real *work = malloc(heed_resize_work(p, width, height) * sizeof *work);
    if (!out || !work) return 1;
    heed_picture_resize(p, box, width, height, out, work);
    printf("%d %d %d\n", width, height, p->channels);
    fwrite(out, sizeof *out, n, stdout);
    free(out);
    free(work);
    return 0;
}

int main(int count, char **args) {
    if (count != 2 && count != 8) return 2;
    heed_picture p;
    char why[HEED_WHY];
    if (heed_picture_read(args[1], &p, why) != HEED_OK) {
        printf("%s\n", why);
        return 3;
    }
    int status = 0;
    if (count == 8) {
        status = resize(&p, args + 2);
    } else {
        printf("%d %d %d\n", p.width, p.height, p.channels);
        fwrite(p.pixels, 1, (size_t)p.width * (size_t)p.height * (size_t)p.channels, stdout);
    }
    heed_picture_free(&p);
    return status;
}
