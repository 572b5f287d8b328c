#include "glsl/word.h"

#include <string.h>

const struct word words[] = {
#define WORD(text, essl, glsl, role) { #text, WORD_##essl, WORD_##glsl, WORD_##role },
#include "word.def"
#undef WORD
};

const size_t nword = sizeof words / sizeof *words;

size_t word_find(const char *text, size_t n)
{
	size_t low = 0, high = nword;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strncmp(text, words[middle].text, n);
		if (!order && words[middle].text[n])
			order = -1;
		if (!order)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return nword;
}

/*
 * Names in the texts that shader.h describes: macros, entry points, and what
 * the text around every pass calls. A builtin function that it does not call
 * may be hidden: then it is the user's text alone that cannot call it.
 */
static const struct {
	const char *name;
	unsigned dialects;
} generated[] = {
	{ "HW_PERFORMANCE", WORD_IN_ESSL },
	{ "SHADERTOY_CLAMP_OUTPUT", WORD_IN_GLSL },
	{ "main", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "mainCompute", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "mainCubemap", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "mainImage", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "mainSound", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "min", WORD_IN_ESSL | WORD_IN_GLSL },
	{ "sampleAudioSpectrum", WORD_IN_GLSL },
	{ "sampleAudioWaveform", WORD_IN_GLSL },
};

static const char *fault_of_class(enum word_class essl, enum word_class glsl)
{
	if (essl == WORD_KEYWORD)
		return "is a word of GLSL ES 3.00";
	if (essl == WORD_RESERVED)
		return "is a reserved word of GLSL ES 3.00";
	if (essl == WORD_LATER)
		return "is a word of other versions of GLSL ES";
	if (glsl == WORD_KEYWORD)
		return "is a word of GLSL 4.30";
	return glsl == WORD_RESERVED ? "is a reserved word of GLSL 4.30" : NULL;
}

const char *word_fault(const char *name, unsigned dialects)
{
	size_t w = word_find(name, strlen(name));
	if (w < nword) {
		const char *fault =
		    fault_of_class(dialects & WORD_IN_ESSL ? words[w].essl : WORD_FREE,
			dialects & WORD_IN_GLSL ? words[w].glsl : WORD_FREE);
		if (fault)
			return fault;
	}
	if (strncmp(name, "gl_", 3) == 0)
		return "starts with gl_, which GLSL keeps for itself";
	if (strncmp(name, "GL_", 3) == 0)
		return "starts with GL_, as macros of the compiler do";
	if (strstr(name, "__"))
		return "has two underscores in a row, which GLSL reserves";
	if (strncmp(name, "stb_", 4) == 0 || strncmp(name, "stbw_", 5) == 0)
		return "starts as the names of the generated text do";
	for (size_t i = 0; i < sizeof generated / sizeof *generated; i++)
		if (generated[i].dialects & dialects &&
		    strcmp(generated[i].name, name) == 0)
			return "is needed by the generated text";
	return NULL;
}

const char *word_generated(size_t i)
{
	return i < sizeof generated / sizeof *generated ? generated[i].name : NULL;
}
