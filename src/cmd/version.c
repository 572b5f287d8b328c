#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "config.h"
#include "graph/keys.h"
#include "project/image.h"
#include "glsl/shader.h"
#include "format/png.h"
#include "util/mem.h"

int cmd_version(struct options *o, const struct args_list *operand, struct err *err)
{
	(void)operand;
	(void)err;
	cJSON *document = json_start("version");
	cJSON_AddStringToObject(document, "version", STBUILD_VERSION);
	cJSON *library = cJSON_AddObjectToObject(document, "libraries");
	/* "NAME VERSION NAME VERSION": what configure found. */
	char *list = xstrdup(STBUILD_LIBRARIES), *save = NULL;
	for (char *name = strtok_r(list, " ", &save); name;
	     name = strtok_r(NULL, " ", &save)) {
		const char *version = strtok_r(NULL, " ", &save);
		cJSON_AddStringToObject(library, name, version ? version : "");
	}
	free(list);
	/* What else decides whether stored results are used again. */
	cJSON *format = cJSON_AddObjectToObject(document, "formats");
	cJSON_AddNumberToObject(format, "keys", KEY_VERSION);
	cJSON_AddNumberToObject(format, "shader-header", SHADER_HEADER_VERSION);
	cJSON_AddStringToObject(format, "image-decoder", IMAGE_DECODER);
	cJSON_AddStringToObject(format, "png-encoder", PNG_ENCODER);
	if (o->json) {
		json_print(document);
		return STATUS_OK;
	}
	printf("stbuild %s\n", STBUILD_VERSION);
	const cJSON *item;
	for (item = library->child; item; item = item->next)
		printf("%s %s\n", item->string, item->valuestring);
	for (item = format->child; item; item = item->next)
		if (cJSON_IsNumber(item))
			printf("%s %d\n", item->string, item->valueint);
		else
			printf("%s %s\n", item->string, item->valuestring);
	cJSON_Delete(document);
	return STATUS_OK;
}
