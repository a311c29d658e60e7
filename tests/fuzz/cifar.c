#define _DEFAULT_SOURCE /* getpid */
/* CIFAR's files: any bytes are a set of pictures or an error. The first byte says how to open, the
 * second how the rest becomes files of names and of records. */
#include "images_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Records that are whole except for the last one: the bytes over and over. */
static void put_records(const char *name, size_t size, const uint8_t *data, size_t n, bool sized) {
    enum { MOST = 24 * 3074 };
    static uint8_t bytes[MOST];
    size_t count = 1 + data[0] % 24, total = sized ? count * size : count * size - data[0] % 5;
    for (size_t i = 0; i < total; i++) bytes[i] = data[i % n];
    for (size_t i = 0; sized && i < count; i++) /* most often all ten classes */
        bytes[i * size] = (uint8_t)(data[n / 2] & 1 ? data[i % n] % 12 : i % 10);
    put(name, bytes, total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const names[] = {"data_batch_1.bin", "test_batch.bin", "train.bin",
                                        "batches.meta.txt", "fine_label_names.txt"};
    if (n < 4) return 0;
    int how = data[0], files = data[1];
    data += 2, n -= 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(place(names[i]));
    size_t cut = n / 2;
    if (files & 1) put(names[files & 4 ? 4 : 3], data + cut, n - cut);
    put_records(names[files & 4 ? 2 : 0], files & 4 ? 3074 : 3073, data, n, files & 2);
    if (files & 8) put_records(names[1], 3073, data + cut, n - cut, files & 2);
    open_and_use(place(""), how);
    return 0;
}
