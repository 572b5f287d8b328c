/* Messages between parent and worker: a byte for the kind, then the payload. */

#include <stdint.h>

#include "render/stream.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct draw_room room;
	struct err err = ERR_INIT;
	if (!size)
		return 0;
	struct message m = { .type = CMD_DRAW, .p = data + 1, .n = size - 1 };
	int rc = 0;
	switch (data[0] % 4) {
	case 0: {
		struct draw draw;
		const char *label;
		rc = message_draw(&m, &room, &draw, &label, &err);
		if (!rc &&
		    (draw.ntarget > 8 || draw.ninput > LIMIT_CHANNELS ||
			draw.nstorage > LIMIT_STORAGE_NAMES))
			BUG("a bound was passed");
		break;
	}
	case 1: {
		struct gl_info info;
		rc = message_info(&m, &info, &err);
		gl_info_release(&info);
		break;
	}
	case 2: {
		struct compile_result result;
		rc = message_result(&m, &result, &err);
		compile_result_release(&result);
		break;
	}
	default: {
		struct texture_desc desc;
		rc = message_desc(&m, &desc, &err);
		if (!rc && (desc.width > LIMIT_SIZE || desc.texel > TEXEL_R8))
			BUG("a bound was passed");
	}
	}
	if ((rc < 0) != (err.message != NULL))
		BUG("status %d, message %s", rc, err.message);
	err_release(&err);
	draw_room_release(&room);
	return 0;
}
