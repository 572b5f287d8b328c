#include "manifest_keys.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

void frames_add(int **frame, size_t *nframe, int first, int last, int step)
{
	size_t n = (size_t)((last - first) / step) + 1, cap = 1;
	/* Most calls ask for the size it has: realloc is quick about that. */
	while (cap < *nframe + n)
		cap *= 2;
	*frame = xreallocarray(*frame, cap, sizeof **frame);
	for (size_t i = 0; i < n; i++)
		(*frame)[(*nframe)++] = first + (int)i * step;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

void frames_sort(int *frame, size_t *nframe)
{
	size_t n = 0;
	if (!*nframe)
		return;
	qsort(frame, *nframe, sizeof *frame, compare);
	for (size_t i = 0; i < *nframe; i++)
		if (!n || frame[n - 1] != frame[i])
			frame[n++] = frame[i];
	*nframe = n;
}

/* Digits at *s within 0..LIMIT_FRAME; moves behind them. */
static int parse_frame(const char **s, int *out)
{
	size_t n = strspn(*s, "0123456789");
	long v = 0;
	if (!n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		v = v * 10 + (*s)[i] - '0';
		if (v > LIMIT_FRAME)
			return -1;
	}
	*s += n;
	*out = (int)v;
	return 0;
}

/* "A", "A:B" or "A:B:STEP". */
static int parse_range(const char *text, int *first, int *last, int *step)
{
	const char *s = text;
	*step = 1;
	if (parse_frame(&s, first))
		return -1;
	*last = *first;
	if (*s == ':' && (s++, parse_frame(&s, last)))
		return -1;
	if (*s == ':' && (s++, parse_frame(&s, step)))
		return -1;
	return *s || *last < *first || *step < 1 ? -1 : 0;
}

int frames_add_text(int **frame, size_t *nframe, const char *text, struct err *err)
{
	for (const char *s = text;; s++) {
		while (*s == ' ')
			s++;
		size_t len = strcspn(s, ","), n = len;
		while (n && s[n - 1] == ' ')
			n--;
		char *part = xstrndup(s, n);
		int first, last, step;
		if (parse_range(part, &first, &last, &step)) {
			err_set(err, STATUS_INPUT,
			    "'%s' is not a frame number or "
			    "range (A:B or A:B:STEP, 0 to %d)",
			    part, LIMIT_FRAME);
			free(part);
			return -1;
		}
		free(part);
		if ((size_t)((last - first) / step) + *nframe >= LIMIT_FRAME_LIST)
			return err_set(err, STATUS_INPUT,
			    "'%s' names more than "
			    "%d frames",
			    text, LIMIT_FRAME_LIST);
		frames_add(frame, nframe, first, last, step);
		s += len;
		if (!*s)
			return 0;
	}
}

int frames_parse(const char *text, int **frame, size_t *nframe, struct err *err)
{
	if (frames_add_text(frame, nframe, text, err))
		return -1;
	frames_sort(*frame, nframe);
	return 0;
}

int frame_of_time(double time, double fps)
{
	double frame = round(time * fps);
	return frame >= INT_MAX ? INT_MAX : frame <= INT_MIN ? INT_MIN : (int)frame;
}

cJSON *frames_to_json(const int *frame, size_t n)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < n;) {
		/* The longest run of one step; three make a range. */
		size_t end = i + 1;
		int step = end < n ? frame[end] - frame[i] : 1;
		while (end < n && frame[end] - frame[end - 1] == step)
			end++;
		if (end - i < 3) {
			cJSON_AddItemToArray(list, cJSON_CreateNumber(frame[i++]));
			continue;
		}
		struct buf text = BUF_INIT;
		buf_addf(&text, "%d:%d", frame[i], frame[end - 1]);
		if (step != 1)
			buf_addf(&text, ":%d", step);
		cJSON_AddItemToArray(list, cJSON_CreateString(buf_str(&text)));
		buf_release(&text);
		i = end;
	}
	return list;
}
