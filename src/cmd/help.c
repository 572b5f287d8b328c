#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "project/manifest.h"
#include "util/mem.h"
#include "util/suggest.h"

static int schema;

const struct args_option help_option[] = {
	{ 0, "schema", ARGS_FLAG, &schema, 0, 0, NULL,
	    "print the JSON Schema of the manifest" },
	OPTION_END,
};

static void print_globals(void)
{
	struct options o;
	struct args_option table[OPTIONS_ROWS];
	options_init(&o);
	options_table(&o, table);
	args_print(table);
}

void command_help(const struct command *c)
{
	if (!c) {
		printf("usage: stbuild [OPTION..] [TARGET..]\n"
		       "       stbuild COMMAND [OPTION..] [OPERAND..]\n\n"
		       "A make for shader traces. Without a command: capture.\n\n"
		       "Commands:\n");
		for (c = command; c->name; c++)
			printf("  %-10s  %s\n", c->name, c->summary);
		printf("\nOptions, before or after the command:\n");
		print_globals();
		return;
	}
	const char *line = c->synopsis;
	for (int i = 0; !i || *line; i++) {
		size_t n = strcspn(line, "\n");
		printf("%s stbuild %s%s%.*s\n", i ? "      " : "usage:", c->name,
		    n ? " " : "", (int)n, line);
		line += n + (line[n] == '\n');
	}
	printf("\n%c%s.\n", c->summary[0] - 'a' + 'A', c->summary + 1);
	if (c->option) {
		printf("\nOptions:\n");
		args_print(c->option);
	}
	printf("\nCommon options:\n");
	print_globals();
}

static int unknown(const char *name, struct err *err)
{
	const char **candidate = NULL;
	size_t n = 0, cap = 0;
	for (const struct command *c = command; c->name; c++) {
		candidate = array_grow(candidate, n, &cap, sizeof *candidate);
		candidate[n++] = c->name;
	}
	const char *near = suggest(name, candidate, n);
	if (near)
		err_set(err, STATUS_INPUT,
		    "unknown command '%s'; did you mean "
		    "'%s'?",
		    name, near);
	else
		err_set(err, STATUS_INPUT,
		    "unknown command '%s'; 'stbuild "
		    "help' lists all",
		    name);
	free(candidate);
	return -1;
}

static void print_json(const struct command *only)
{
	cJSON *document = json_start("help");
	cJSON *list = cJSON_AddArrayToObject(document, "commands");
	for (const struct command *c = command; c->name; c++) {
		if (only && c != only)
			continue;
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "name", c->name);
		cJSON_AddStringToObject(item, "synopsis", c->synopsis);
		cJSON_AddStringToObject(item, "summary", c->summary);
		cJSON_AddBoolToObject(item, "is_built", c->run != NULL);
		cJSON_AddItemToArray(list, item);
	}
	json_print(document);
}

int cmd_help(struct options *o, const struct args_list *operand, struct err *err)
{
	const struct command *c = NULL;
	if (schema) {
		cJSON *json = manifest_schema();
		char *text = cJSON_Print(json);
		puts(text);
		cJSON_free(text);
		cJSON_Delete(json);
		return STATUS_OK;
	}
	if (operand->nitem && !(c = command_find(operand->item[0])))
		return unknown(operand->item[0], err);
	if (o->json)
		print_json(c);
	else
		command_help(c);
	return STATUS_OK;
}
