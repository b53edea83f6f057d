/* Runs a fuzz target on every file of the folders that are named, in place of libFuzzer. */
#include <dirent.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 20 };

static void run_file(const char *path) {
    static uint8_t bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    require(file != NULL);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    require(!ferror(file) && length < sizeof bytes);
    fclose(file);
    /* On the heap and no byte longer, so that sanitizers see what is read beyond the end. */
    uint8_t *exact = malloc(length ? length : 1);
    require(exact != NULL);
    memcpy(exact, bytes, length);
    /* What aborts has said no name. */
    fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, length);
    free(exact);
}

static size_t run_folder(const char *folder) {
    DIR *dir = opendir(folder);
    size_t count = 0;
    require(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        require(length > 0 && (size_t)length < sizeof path);
        run_file(path);
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv) {
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += run_folder(argv[i]);
    printf("%zu inputs\n", count);
    return count ? 0 : 1;
}
