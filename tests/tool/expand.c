/*
 * Tokens of GLSL, a line each, for comparing preprocessors:
 *
 *	expand essl|glsl FILE..		what stbuild makes of the files, one
 *					behind the other
 *	expand lex FILE			tokens of a text that is preprocessed;
 *					directives are left out
 *
 * Status 1, and the line of the text and the message on stderr, at a fault.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glsl/preprocess.h"
#include "util/fs.h"
#include "util/limits.h"
#include "util/mem.h"

static void print(const struct glsl *g)
{
	for (size_t i = 0; i < g->ntoken; i++)
		if (!g->token[i].is_directive)
			printf("%.*s\n", (int)g->token[i].len, g->text + g->token[i].at);
}

int main(int argc, char **argv)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	int rc = 0;
	if (argc < 3) {
		fputs("usage: expand essl|glsl|lex FILE..\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		if (fs_read(argv[i], LIMIT_EXPANDED_BYTES, &text, &err) < 0) {
			fprintf(stderr, "%s\n", err.message);
			return 2;
		}
	int is_essl = strcmp(argv[1], "essl") == 0;
	if (strcmp(argv[1], "lex") == 0) {
		struct glsl g;
		glsl_lex(&g, buf_str(&text), text.len);
		print(&g);
		glsl_release(&g);
	} else {
		struct preprocess p;
		struct preprocess_options options = { is_essl, is_essl ? 300 : 430,
			NULL };
		if (preprocess(&options, buf_str(&text), text.len, &p, &err) < 0) {
			int line, column;
			preprocess_place(&p, p.fault, &line, &column);
			fprintf(stderr, "%d: %s\n", line, err.message);
			rc = 1;
		} else {
			print(&p.code);
		}
		preprocess_release(&p);
	}
	buf_release(&text);
	err_release(&err);
	return rc;
}
