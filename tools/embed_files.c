/* Build tool: embed_files OUT NAME=FILE... writes a C file with the console's assets (src/console/assets.h),
 * each under its name. Knows what an asset's type is, and nothing of what it says. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
    {".txt", "text/plain; charset=utf-8"}, {".json", "application/json"},
};

static void fail(const char *what, const char *name) {
    fprintf(stderr, "embed_files: %s: %s\n", name, what);
    exit(1);
}

static const char *type_of(const char *name) {
    const char *suffix = strrchr(name, '.');

    for (size_t i = 0; suffix && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(suffix, types[i].suffix) == 0) return types[i].type;
    fail("no type is known for this suffix; add it to tools/embed_files.c", name);
    return NULL;
}

/* The bytes of a file as an array; its hash (FNV-1a) is for the ETag. */
static uint64_t write_bytes(FILE *out, const char *file, int number) {
    FILE *in = fopen(file, "rb");
    uint64_t hash = 14695981039346656037u;
    size_t size = 0;
    int c;

    if (!in) fail("cannot be read", file);
    fprintf(out, "static const unsigned char bytes_%d[] = {", number);
    while ((c = getc(in)) != EOF) {
        fprintf(out, "%s%d,", size++ % 32 ? "" : "\n", c);
        hash = (hash ^ (uint64_t)c) * 1099511628211u;
    }
    if (ferror(in) || size == 0) fail("is empty or cannot be read", file);
    fprintf(out, "0\n};\n"); /* ends as a text does */
    fclose(in);
    return hash;
}

static char *split(char *argument) {
    char *equals = strchr(argument, '=');

    if (!equals) fail("is not NAME=FILE", argument);
    *equals = '\0';
    return equals + 1;
}

int main(int argc, char **argv) {
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    uint64_t *hashes = calloc((size_t)argc + 1, sizeof *hashes);

    if (!out || !hashes) fail("usage: embed_files OUT NAME=FILE...", "OUT");
    fprintf(out, "#include \"console/assets.h\"\n#include <string.h>\n");
    for (int i = 2; i < argc; i++)
        hashes[i] = write_bytes(out, split(argv[i]), i);
    fprintf(out, "static const struct asset assets[] = {\n");
    for (int i = 2; i < argc; i++)
        fprintf(out, "    {\"%s\", \"%s\", \"\\\"%016" PRIx64 "\\\"\", bytes_%d, sizeof bytes_%d - 1},\n",
                strcmp(argv[i], "index.html") == 0 ? "" : argv[i], type_of(argv[i]), hashes[i], i, i);
    fprintf(out, "};\n"
                 "const struct asset *tpi_asset_find(const char *path) {\n"
                 "    for (size_t i = 0; i < sizeof assets / sizeof assets[0]; i++)\n"
                 "        if (strcmp(assets[i].path, path) == 0) return &assets[i];\n"
                 "    return NULL;\n"
                 "}\n");
    free(hashes);
    if (fclose(out) != 0) fail("cannot be written", argv[1]);
    return 0;
}
