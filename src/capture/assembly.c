#include "capture/assembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/encoder.h"
#include "format/bundle.h"
#include "format/bundle_write.h"
#include "format/pixel.h"
#include "format/png.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

#define TEXELS_AT_ONCE 65536 /* 1 MiB of RGBA32F: what a stream holds */

static const char *const face_name[6] = { "px", "nx", "py", "ny", "pz", "nz" };

/* An object's file, read in order and checked at its end. */
struct source_file {
	FILE *file;
	struct sha256_ctx hash;
	const struct piece *piece;
};

static int torn(struct assembly *a, const struct piece *piece)
{
	a->is_torn = 1;
	return err_set(&a->err, STATUS_MACHINE,
	    "an object of '%s' is missing or torn: %s", piece->name, piece->path);
}

static int piece_open(struct assembly *a, const struct piece *piece,
    struct source_file *out)
{
	out->piece = piece;
	out->file = fopen(piece->path, "rb");
	if (!out->file)
		return torn(a, piece);
	sha256_init(&out->hash);
	return 0;
}

static int piece_take(struct assembly *a, struct source_file *s, void *data, size_t n)
{
	if (fread(data, 1, n, s->file) != n)
		return torn(a, s->piece);
	if (!s->piece->is_trusted)
		sha256_update(&s->hash, data, n);
	return 0;
}

static int piece_check(struct assembly *a, struct source_file *s)
{
	struct sha256 sha;

	if (s->piece->is_trusted)
		return 0;
	sha256_final(&s->hash, &sha);
	return sha256_equal(&sha, &s->piece->sha) ? 0 : torn(a, s->piece);
}

static void piece_close(struct source_file *s)
{
	if (s->file)
		fclose(s->file);
	sha256_ctx_release(&s->hash);
}

/* The whole object. */
static int piece_read(struct assembly *a, const struct piece *piece, struct buf *out)
{
	struct source_file s = { 0 };
	int rc = piece_open(a, piece, &s);

	if (rc == 0) {
		rc = piece_take(a, &s, buf_reserve(out, piece->bytes), piece->bytes);
		if (rc == 0) {
			out->len += piece->bytes;
			rc = piece_check(a, &s);
		}
	}
	piece_close(&s);
	return rc;
}

/*
 * What an artifact is made from: by what, from which bytes, and what else
 * decides. Two artifacts of one origin are equal.
 */
static void origin_of(const char *how, const struct piece *piece, int face,
    struct sha256 *out)
{
	struct encoder e = { BUF_INIT };

	encoder_begin(&e, how);
	encoder_sha(&e, TAG_OBJECT, &piece->sha);
	encoder_u64(&e, TAG_SIZE, (uint64_t)piece->width << 32 | (uint64_t)piece->height);
	encoder_u64(&e, TAG_FORMAT, piece->format);
	encoder_u64(&e, TAG_OUTPUT, (uint64_t)face);
	encoder_end(&e, out);
	encoder_release(&e);
}

/* Notes an artifact's origin; 1 when the old bundle's file is taken over. */
static int keep(struct assembly *a, struct bundle_writer *w, const char *key,
    const char *path, const struct sha256 *origin)
{
	a->made = array_grow(a->made, a->nmade, &a->made_cap, sizeof *a->made);
	a->made[a->nmade++] =
	    (struct bundle_file){ .key = xstrdup(key), .origin = *origin };
	for (size_t i = 0; i < a->nold; i++) {
		const struct bundle_file *f = &a->old[i];
		if (f->is_intact && strcmp(f->key, key) == 0 &&
		    sha256_equal(&f->origin, origin))
			return bundle_keep(w, key, path, f->path, &f->sha, &f->stamp);
	}
	return 0;
}

static int write_png(struct assembly *a, struct bundle_writer *w, const char *key,
    const char *path, const struct piece *piece, const void *texel)
{
	struct buf png = BUF_INIT;
	size_t n = (size_t)piece->width * (size_t)piece->height;
	uint8_t *rgb = xmalloc(n * 3);
	int rc;

	pixel_to_rgb8(piece->format, texel, piece->width, piece->height, rgb);
	rc = png_encode(rgb, piece->width, piece->height, &png, &a->err);
	if (rc == 0)
		rc = bundle_add(w, key, path, png.data, png.len, &a->err);
	free(rgb);
	buf_release(&png);
	return rc;
}

/* Appends the piece to a stream as RGBA32F, or raw for storage. */
static int stream_piece(struct assembly *a, struct bundle_stream *out,
    const struct piece *piece)
{
	struct source_file s = { 0 };
	int is_raw = piece->is_storage || piece->format == FORMAT_RGBA32F;
	size_t texel_bytes = is_raw ? 1 : format_bytes(piece->format);
	size_t at_once = is_raw ? TEXELS_AT_ONCE * 16 : TEXELS_AT_ONCE;
	size_t left = piece->bytes / texel_bytes;
	char *in = xmalloc(at_once * texel_bytes);
	float *wide = is_raw ? NULL : xmalloc(TEXELS_AT_ONCE * 16);
	int rc = piece_open(a, piece, &s);

	while (rc == 0 && left > 0) {
		size_t n = left < at_once ? left : at_once;
		rc = piece_take(a, &s, in, n * texel_bytes);
		if (rc == 0 && is_raw)
			rc = bundle_write(out, in, n, &a->err);
		if (rc == 0 && !is_raw) {
			pixel_to_rgba32f(piece->format, in, n, wide);
			rc = bundle_write(out, wide, n * 16, &a->err);
		}
		left -= n;
	}
	if (rc == 0)
		rc = piece_check(a, &s);
	piece_close(&s);
	free(in);
	free(wide);
	return rc;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->is_storage != y->is_storage)
		return x->is_storage - y->is_storage;
	return strcmp(x->name, y->name);
}

static void describe_state(const struct assembly *a, struct state *out)
{
	*out = (struct state){ .version = 4,
		.width = a->width,
		.height = a->height,
		.fps = a->fps,
		.time = (double)a->frame / a->fps,
		.frame = a->frame };
	out->project = xstrdup(a->project);
	out->buffer = xcalloc(a->nstate + 1, sizeof *out->buffer);
	out->storage = xcalloc(a->nstate + 1, sizeof *out->storage);
	for (size_t i = 0; i < a->nstate; i++) {
		const struct piece *p = &a->state[i];
		if (p->is_storage)
			out->storage[out->nstorage++] =
			    (struct state_storage){ xstrdup(p->name), p->bytes, 0 };
		else
			out->buffer[out->nbuffer++] =
			    (struct state_buffer){ .name = xstrdup(p->name),
				    .width = p->width,
				    .height = p->height,
				    .has_size = 1,
				    .format = p->format };
	}
}

static void state_origin(const struct assembly *a, const struct buf *head,
    struct sha256 *out)
{
	struct encoder e = { BUF_INIT };

	encoder_begin(&e, "state");
	encoder_bytes(&e, TAG_NAME, head->data, head->len);
	for (size_t i = 0; i < a->nstate; i++)
		encoder_sha(&e, TAG_OBJECT, &a->state[i].sha);
	encoder_end(&e, out);
	encoder_release(&e);
}

static int stream_state(struct assembly *a, struct bundle_writer *w,
    const struct buf *head)
{
	struct bundle_stream *out = NULL;
	struct err end = ERR_INIT;

	if (bundle_begin_file(w, "state", "state.ststate", &out, &a->err))
		return -1;
	int rc = bundle_write(out, head->data, head->len, &a->err);
	for (size_t i = 0; i < a->nstate && rc == 0; i++)
		rc = stream_piece(a, out, &a->state[i]);
	if (bundle_end_file(out, &end) && rc == 0) {
		err_move(&a->err, &end);
		rc = -1;
	}
	err_release(&end);
	return rc;
}

static int write_state(struct assembly *a, struct bundle_writer *w)
{
	struct state state;
	struct sha256 origin;
	struct buf head = BUF_INIT;

	qsort(a->state, a->nstate, sizeof *a->state, compare_pieces);
	describe_state(a, &state);
	int rc = state_begin(&state, &head, &a->err);
	if (rc == 0) {
		cJSON_ReplaceItemInObjectCaseSensitive(a->json, "state_header",
		    cJSON_Parse(state.header));
		state_origin(a, &head, &origin);
		if (!keep(a, w, "state", "state.ststate", &origin))
			rc = stream_state(a, w, &head);
	}
	state_release(&state);
	buf_release(&head);
	return rc;
}

/* The texels of a piece, read when they are first needed. */
static int need_texels(struct assembly *a, const struct piece *piece, struct buf *data)
{
	return data->len > 0 ? 0 : piece_read(a, piece, data);
}

static int write_raw(struct assembly *a, struct bundle_writer *w, const char *key,
    const char *path, const struct piece *piece, int face, struct buf *data)
{
	size_t n = (size_t)piece->width * (size_t)piece->height;
	struct sha256 origin;

	origin_of("raw", piece, face, &origin);
	if (keep(a, w, key, path, &origin))
		return 0;
	if (piece->format == FORMAT_RGBA32F && piece->nface == 1 && piece->is_trusted)
		return bundle_add_copy(w, key, path, piece->path, &piece->sha,
		    piece->bytes, &a->err);
	if (need_texels(a, piece, data))
		return -1;
	float *wide = xmalloc(n * 16);
	pixel_to_rgba32f(piece->format,
	    data->data + (size_t)face * n * format_bytes(piece->format), n, wide);
	int rc = bundle_add(w, key, path, wide, n * 16, &a->err);
	free(wide);
	return rc;
}

static int write_picture(struct assembly *a, struct bundle_writer *w, const char *key,
    const char *path, const struct piece *piece, int face, struct buf *data)
{
	size_t n = (size_t)piece->width * (size_t)piece->height;
	struct sha256 origin;

	origin_of(PNG_ENCODER, piece, face, &origin);
	if (keep(a, w, key, path, &origin))
		return 0;
	if (need_texels(a, piece, data))
		return -1;
	return write_png(a, w, key, path, piece,
	    data->data + (size_t)face * n * format_bytes(piece->format));
}

/* passes/STEM-output-K.* and passes/STEM-face-F.*, each raw and PNG. */
static int write_intermediate(struct assembly *a, struct bundle_writer *w,
    const struct piece *piece, const char *stem)
{
	struct buf data = BUF_INIT;
	int rc = 0;

	for (int f = 0; f < piece->nface && rc == 0; f++) {
		char *what = piece->nface == 6 ? xasprintf("face:%s", face_name[f])
					       : xasprintf("output:%d", piece->output);
		char *file = xasprintf("passes/%s-%s", stem, what);
		*strchr(file + strlen("passes/") + strlen(stem), ':') = '-';
		char *raw_key = xasprintf("pass:%s:%s:raw", piece->name, what);
		char *png_key = xasprintf("pass:%s:%s:png", piece->name, what);
		char *raw_path = xasprintf("%s.rgba32f", file);
		char *png_path = xasprintf("%s.png", file);
		rc = write_raw(a, w, raw_key, raw_path, piece, f, &data);
		if (rc == 0)
			rc = write_picture(a, w, png_key, png_path, piece, f, &data);
		free(what);
		free(file);
		free(raw_key);
		free(png_key);
		free(raw_path);
		free(png_path);
	}
	buf_release(&data);
	return rc;
}

static int write_intermediates(struct assembly *a, struct bundle_writer *w)
{
	char **stem = xcalloc(a->nintermediate + 1, sizeof *stem);
	size_t nstem = 0;
	int rc = 0;

	for (size_t i = 0; i < a->nintermediate && rc == 0; i++) {
		const struct piece *piece = &a->intermediate[i];
		/* The outputs of one pass stand together and share a stem. */
		if (i == 0 || strcmp(piece->name, a->intermediate[i - 1].name) != 0) {
			stem[nstem] = bundle_stem(piece->name, stem, nstem);
			nstem++;
		}
		rc = write_intermediate(a, w, piece, stem[nstem - 1]);
	}
	for (size_t i = 0; i < nstem; i++)
		free(stem[i]);
	free(stem);
	return rc;
}

struct placed {
	struct assembly *assembly;
	const struct artifact *artifact;
	size_t nartifact;
};

/* Stamps of the files at their final place. */
static int note_files(void *data, struct err *err)
{
	const struct placed *placed = data;
	struct assembly *a = placed->assembly;
	const struct artifact *artifact = placed->artifact;
	size_t nartifact = placed->nartifact;
	char *path = fs_join(a->path, "trace.json");
	int rc = 0;

	a->file = xcalloc(nartifact + 1, sizeof *a->file);
	for (size_t i = 0; i <= nartifact && rc == 0; i++) {
		struct bundle_file *f = &a->file[a->nfile++];
		const char *relative = i < nartifact ? artifact[i].path : "trace.json";
		char *full = fs_join(a->path, relative);
		f->key = xstrdup(i < nartifact ? artifact[i].key : "trace");
		f->path = xstrdup(relative);
		for (size_t j = 0; j < a->nmade; j++)
			if (strcmp(a->made[j].key, f->key) == 0)
				f->origin = a->made[j].origin;
		if (i < nartifact) {
			f->sha = artifact[i].sha;
			f->size = artifact[i].bytes;
		} else {
			rc = fs_hash(path, &f->sha, &f->size, err);
		}
		if (rc == 0 && fs_stamp(full, &f->stamp))
			rc = err_errno(err, STATUS_MACHINE,
			    "%s has gone while it was written", full);
		free(full);
	}
	free(path);
	return rc;
}

static int finish(struct assembly *a, struct bundle_writer *w)
{
	/* The writer is gone after bundle_finish; its list is still needed. */
	size_t n = w->nartifact;
	struct artifact *artifact = xcalloc(n + 1, sizeof *artifact);
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		artifact[i] = (struct artifact){ xstrdup(w->artifact[i].key),
			xstrdup(w->artifact[i].path), w->artifact[i].bytes,
			w->artifact[i].sha };
	bundle_stable_id(a->json, artifact, n, &a->stable_id);
	bundle_content_id(artifact, n, &a->content_id);
	if (a->has_stable && sha256_equal(&a->stable, &a->stable_id)) {
		a->is_same = 1;
		bundle_abandon(w);
	} else {
		struct placed placed = { a, artifact, n };
		rc = bundle_finish(w, a->json, note_files, &placed, &a->err);
	}
	for (size_t i = 0; i < n; i++) {
		free(artifact[i].key);
		free(artifact[i].path);
	}
	free(artifact);
	return rc;
}

void assembly_run(struct assembly *a)
{
	struct bundle_writer w = { 0 };
	struct buf texel = BUF_INIT;

	int rc = bundle_begin(a->path, a->is_on_record, &w, &a->err);
	if (rc == 0) {
		rc = bundle_add(&w, "project_sttf", "project.sttf", a->sttf, a->nsttf,
		    &a->err);
		if (rc == 0)
			rc = write_picture(a, &w, "final_image", "final.png", &a->final,
			    0, &texel);
		buf_release(&texel);
		if (rc == 0)
			rc = write_state(a, &w);
		if (rc == 0)
			rc = write_intermediates(a, &w);
		if (rc == 0)
			rc = finish(a, &w);
		else
			bundle_abandon(&w);
	}
	if (rc != 0)
		err_wrap(&a->err, "while writing %s", a->path);
	a->ok = rc == 0;
}

static void piece_release(struct piece *p)
{
	free(p->name);
	free(p->path);
}

void assembly_release(struct assembly *a)
{
	free(a->path);
	free(a->sttf);
	free(a->project);
	piece_release(&a->final);
	for (size_t i = 0; i < a->nstate; i++)
		piece_release(&a->state[i]);
	for (size_t i = 0; i < a->nintermediate; i++)
		piece_release(&a->intermediate[i]);
	free(a->state);
	free(a->intermediate);
	cJSON_Delete(a->json);
	for (size_t i = 0; i < a->nfile; i++) {
		free(a->file[i].key);
		free(a->file[i].path);
	}
	free(a->file);
	for (size_t i = 0; i < a->nmade; i++)
		free(a->made[i].key);
	free(a->made);
	err_release(&a->err);
	memset(a, 0, sizeof *a);
}
