#ifndef STBUILD_PROJECT_MANIFEST_KEYS_H
#define STBUILD_PROJECT_MANIFEST_KEYS_H

/*
 * The keys of the manifest, one row a key. The loader, the writer and the JSON
 * Schema all work from these tables, so a key is added here and nowhere else
 * (but for rules that span keys, which are in manifest_check.c).
 */

#include <stddef.h>
#include <stdint.h>

#include "project/doc.h"
#include "project/manifest.h"
#include "util/map.h"

/* What a key holds; the C type that "to" leads to is in brackets. */
enum key_kind {
	KEY_INT,           /* [int] within min..max */
	KEY_U32,           /* [uint32_t] */
	KEY_U64,           /* [uint64_t] */
	KEY_NUMBER,        /* [double] finite, within min..max */
	KEY_BOOL,          /* [int] */
	KEY_TEXT,          /* [char *] */
	KEY_NAME,          /* [char *] not blank */
	KEY_NODE_NAME,     /* [char *] of a pass or an asset: one name space */
	KEY_UNIFORM_NAME,  /* [char *] a GLSL identifier, not reserved */
	KEY_TRACE_NAME,    /* [char *] part of a file name */
	KEY_TEST_NAME,     /* [char *] */
	KEY_WORD,          /* [int] index into word[] */
	KEY_PATH,          /* [char *] relative path, no ".." */
	KEY_FILE,          /* [char *] the same; the file must exist */
	KEY_PATHS,         /* [char **] and count */
	KEY_FORMATS,       /* struct pass: extra_output */
	KEY_TRIPLE,        /* [int[3]] local size */
	KEY_RANGE,         /* [double[2]] lower, upper */
	KEY_VALUE,         /* [struct value] read by the uniform's check */
	KEY_SET,           /* [struct assignment *] and count */
	KEY_TABLE,         /* another table, of the same struct */
	KEY_TABLES,        /* array of tables: pointer and count */
	KEY_PRESETS,       /* [struct preset *] by name, and count */
	KEY_PRESET_PASSES, /* [struct preset_pass *] by pass, and count */
	KEY_FRAMES,        /* [int *] and count: numbers and "A:B:STEP" */
	KEY_RESOLUTIONS,   /* [int (*)[2]] and count */
	KEY_SOURCE,        /* struct input_ref: pass and asset */
	KEY_PASS,          /* [int] index of a pass */
	KEY_PRESET,        /* [char *] name of a preset */
	KEY_STORAGE,       /* [char *] name of a storage buffer */
	KEY_BUDGETS,       /* [struct test_budget *] by pass, and count */
	KEY_DATE,          /* [struct date] */
	KEY_BYTES,         /* [uint64_t] integer or "10GiB" */
	KEY_AGE,           /* [double] seconds, or "30d" */
	KEY_CHECKPOINT,    /* struct manifest: checkpoint, checkpoint_every */
	KEY_MOUSE,         /* [float[4]] */
	KEY_KEYS,          /* [uint8_t *] and count: key codes and names */
	KEY_KINDS,
};

enum key_flags {
	KEY_REQUIRED = 1,
	KEY_ABOVE = 2, /* min itself is too small */
	KEY_ALWAYS = 4 /* written even when it is the default */
};

struct table;

struct key {
	const char *name;
	enum key_kind kind;
	const char *help; /* a sentence for the schema */
	size_t to;        /* offset in the struct, or KEY_NOWHERE: a check reads it */
	size_t count;     /* offset of a list's size_t count */
	size_t has;       /* offset of an int that is 1 when it was given; 0: none */
	unsigned flags;
	double min, max; /* INT, U32, U64, NUMBER; lists: at most max elements */
	const char *const *word;
	int nword;
	const struct table *table;
	unsigned section; /* of enum manifest_sections; 0: always written */
};

#define KEY_NOWHERE ((size_t)-1)

struct loader;
struct at;

struct table {
	const struct key *key;
	int nkey;
	size_t size;          /* of the struct; 0: that of the table around it */
	const void *defaults; /* a struct to start from */
	size_t place;         /* offset of int line, column; 0: none */
	/* Rules that span keys; called when each key alone was right. */
	void (
	    *check)(struct loader *l, const cJSON *item, const struct at *at, void *out);
};

extern const struct table manifest_root;
extern const struct manifest manifest_defaults;

/* Where the loader is: a chain of keys and indices up to the root. */
struct at {
	const struct at *up;
	const char *key; /* null: an index */
	size_t index;
};

struct loader {
	const struct doc *doc;
	struct manifest *m;
	struct errs *errs;
	size_t nfault; /* found, those beyond LIMIT_ERRORS too */
	size_t nframe; /* in all frame lists so far */
	/* What is known before passes are read, as they refer to each other. */
	struct map pass; /* name to index */
	struct map asset, uniform, preset;
	struct map name; /* of passes and assets, to the line of the first */
	struct map trace, test;
	struct map storage; /* name to index of the first in storage_size */
	uint64_t storage_size[64];
	unsigned char *pass_ok, *asset_ok, *uniform_ok; /* read without a fault */
	/* Looks at a file that the manifest names; null: nobody does. */
	int (*look)(void *data, const char *path, int is_folder, struct err *err);
	void *look_data;
};

/* Loads doc into *out with the loader's settings: doc, errs and look. */
int manifest_load_doc(struct loader *l, enum dialect default_dialect,
    struct manifest *out);

/* Reports at the value, or at its key. */
__attribute__((format(printf, 4, 5))) void fault(struct loader *l, const struct at *at,
    const cJSON *item, const char *fmt, ...);
__attribute__((format(printf, 4, 5))) void fault_key(struct loader *l,
    const struct at *at, const cJSON *item, const char *fmt, ...);
/* "expected WHAT, got ..." */
void expected(struct loader *l, const struct at *at, const cJSON *item, const char *what);
/* The same for the key of a table at "at". */
__attribute__((format(printf, 5, 6))) void fault_in(struct loader *l, const struct at *at,
    const cJSON *table, const char *key, const char *fmt, ...);
/* "unknown WHAT 'WORD'; did you mean 'x'?" Names of structs that begin with one. */
void unknown(struct loader *l, const struct at *at, const cJSON *item, int at_key,
    const char *what, const char *word, const void *array, size_t n, size_t size);

enum doc_kind kind_of(const struct loader *l, const cJSON *item);
/* A child by its key, or null. */
const cJSON *child_of(const cJSON *table, const char *key);
/* An integer within min..max; reports otherwise. */
int load_integer(struct loader *l, const struct at *at, const cJSON *item, long long min,
    long long max, long long *out);
int load_number(struct loader *l, const struct at *at, const cJSON *item, double min,
    double max, int is_above, double *out);
/* A string without NUL; borrowed. */
const char *load_text(struct loader *l, const struct at *at, const cJSON *item);
/* A list of at most max elements; its length. */
int load_list(struct loader *l, const struct at *at, const cJSON *item, double max,
    size_t *n);
/* A value of a uniform's type. */
int load_value(struct loader *l, const struct at *at, const cJSON *item,
    enum value_type type, struct value *out);
/* A value within the uniform's range. */
int check_range(struct loader *l, const struct at *at, const cJSON *item,
    const struct uniform *u, const struct value *v);
/* Index of a pass that item (or its key) names, or -1. */
int load_pass_name(struct loader *l, const struct at *at, const cJSON *item, int at_key,
    const char *name);

typedef void load_function(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out);
/* manifest_kinds.c */
load_function load_frames, load_resolutions, load_date, load_bytes, load_age,
    load_checkpoint, load_mouse, load_keys, load_budgets, load_set;

/* A frame list as the manifest writes it: numbers and "A:B:STEP". */
cJSON *frames_to_json(const int *frame, size_t n);
/* Appends first, first + step .. last. */
void frames_add(int **frame, size_t *nframe, int first, int last, int step);
/* Appends what frames_parse reads, in the text's order. */
int frames_add_text(int **frame, size_t *nframe, const char *text,
    struct err *err) WARN_UNUSED;
/* Ascending, none twice. */
void frames_sort(int *frame, size_t *nframe);

/* Checks, manifest_check.c and manifest_test.c. */
typedef void check_function(struct loader *l, const cJSON *item, const struct at *at,
    void *out);
check_function check_uniform, check_asset, check_pass, check_input, check_preset,
    check_preset_pass, check_trace, check_test, check_render, check_storage, check_root;
/* The frame or time of a trace or test; frames are there already. */
void check_when(struct loader *l, const cJSON *item, const struct at *at, double fps,
    int **frame, size_t *nframe);

static inline void *member(void *base, size_t offset)
{
	return (char *)base + offset;
}

static inline const void *const_member(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

/* The i-th name of a key on the keyboard that is more than itself; then null. */
const char *key_name(size_t i);

#endif
