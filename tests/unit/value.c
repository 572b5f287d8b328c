#include <cjson/cJSON.h>

#include "project/value.h"
#include "util/buf.h"
#include "util/err.h"
#include "test.h"

static void check_parse(void)
{
	static const struct {
		const char *text;
		enum value_type type;
		const char *want; /* printed; null: refused */
	} row[] = {
		{ "0.5", VALUE_FLOAT, "0.5" },
		{ " 1 ", VALUE_FLOAT, "1" },
		{ "-1e-3", VALUE_FLOAT, "-0.001" },
		{ "0.1", VALUE_FLOAT, "0.1" },
		{ "1e39", VALUE_FLOAT, NULL },
		{ "0x10", VALUE_FLOAT, NULL },
		{ "nan", VALUE_FLOAT, NULL },
		{ "inf", VALUE_FLOAT, NULL },
		{ "", VALUE_FLOAT, NULL },
		{ "1 2", VALUE_FLOAT, NULL },
		{ "1,2", VALUE_FLOAT, NULL },
		{ "-7", VALUE_INT, "-7" },
		{ "2147483647", VALUE_INT, "2147483647" },
		{ "2147483648", VALUE_INT, NULL },
		{ "99999999999999999999", VALUE_INT, NULL },
		{ "1.0", VALUE_INT, NULL },
		{ "-", VALUE_INT, NULL },
		{ "true", VALUE_BOOL, "true" },
		{ "on", VALUE_BOOL, "true" },
		{ " 1\t", VALUE_BOOL, "true" },
		{ "off", VALUE_BOOL, "false" },
		{ "0", VALUE_BOOL, "false" },
		{ "yes", VALUE_BOOL, NULL },
		{ "1,2", VALUE_VEC2, "1, 2" },
		{ " 1 , 0.5 , -3 ", VALUE_VEC3, "1, 0.5, -3" },
		{ "1,2,3,4", VALUE_VEC4, "1, 2, 3, 4" },
		{ "1,2,3", VALUE_VEC4, NULL },
		{ "1,2,3", VALUE_VEC2, NULL },
		{ "1,,3", VALUE_VEC3, NULL },
		{ "1,2,", VALUE_VEC2, NULL },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct value v;
		struct err err = ERR_INIT;
		struct buf text = BUF_INIT;
		if (value_parse(row[i].text, row[i].type, &v, &err)) {
			CHECK_INT(err.status, STATUS_INPUT);
			CHECK_STR(NULL, row[i].want);
		} else {
			CHECK_INT(v.type, row[i].type);
			value_print(&v, &text);
			CHECK_STR(buf_str(&text), row[i].want);
		}
		buf_release(&text);
		err_release(&err);
	}
}

static void check_json(void)
{
	static const struct {
		const char *text;
		enum value_type type;
		int holds;
	} row[] = {
		{ "1", VALUE_FLOAT, 1 },
		{ "1.5", VALUE_FLOAT, 1 },
		{ "1e300", VALUE_FLOAT, 0 },
		{ "[1]", VALUE_FLOAT, 0 },
		{ "1", VALUE_INT, 1 },
		{ "1.5", VALUE_INT, 0 },
		{ "3e9", VALUE_INT, 0 },
		{ "true", VALUE_INT, 0 },
		{ "true", VALUE_BOOL, 1 },
		{ "1", VALUE_BOOL, 0 },
		{ "[1,2]", VALUE_VEC2, 1 },
		{ "[1,2,3]", VALUE_VEC2, 0 },
		{ "[1,2,3]", VALUE_VEC3, 1 },
		{ "[1,true,3]", VALUE_VEC3, 0 },
		{ "[1,2,3,-4.5]", VALUE_VEC4, 1 },
		{ "1", VALUE_VEC4, 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		cJSON *json = cJSON_Parse(row[i].text);
		struct value v, again;
		struct err err = ERR_INIT;
		int got = !value_from_json(json, row[i].type, &v, &err);
		CHECK_INT(got, row[i].holds);
		CHECK_INT(err.status, got ? STATUS_OK : STATUS_INPUT);
		if (got) {
			cJSON *back = value_to_json(&v);
			CHECK(cJSON_Compare(back, json, 1));
			CHECK(!value_from_json(back, v.type, &again, &err));
			CHECK_INT(again.type, v.type);
			if (v.type == VALUE_INT || v.type == VALUE_BOOL)
				CHECK_INT(again.i, v.i);
			else
				CHECK(memcmp(again.f, v.f,
					  sizeof *v.f *
					      (size_t)value_components(v.type)) == 0);
			cJSON_Delete(back);
		}
		cJSON_Delete(json);
		err_release(&err);
	}
}

static void check_print(void)
{
	struct buf text = BUF_INIT;
	print_float(0.1f, &text);
	buf_addch(&text, ' ');
	print_double(0.1, &text);
	buf_addch(&text, ' ');
	print_double((double)0.1f, &text);
	buf_addch(&text, ' ');
	print_float(16777216.0f, &text);
	buf_addch(&text, ' ');
	print_double(1.0 / 3, &text);
	buf_addch(&text, ' ');
	print_double(1000, &text);
	buf_addch(&text, ' ');
	print_double(1e20, &text);
	buf_addch(&text, ' ');
	print_float(0.0001f, &text);
	CHECK_STR(buf_str(&text),
	    "0.1 0.1 0.10000000149011612 16777216 0.3333333333333333 1000 1e+20 0.0001");
	buf_release(&text);
}

static void check_quantities(void)
{
	static const struct {
		const char *text;
		long long n;
	} bytes[] = {
		{ "0", 0 },
		{ "1024", 1024 },
		{ "1b", 1 },
		{ "2 kB", 2000 },
		{ "1.5KiB", 1536 },
		{ "10GiB", 10737418240 },
		{ "8192TiB", 9007199254740992 },
		{ "8193TiB", -1 },
		{ "", -1 },
		{ "-1", -1 },
		{ "GiB", -1 },
		{ "1 x", -1 },
		{ "1.2.3", -1 },
		{ "1e3", -1 },
		{ "0x10", -1 },
		{ "1GiB ", -1 },
	};
	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		uint64_t n = 7;
		int rc = bytes_parse(bytes[i].text, &n);
		CHECK_INT(rc ? -1 : (long long)n, bytes[i].n);
		CHECK(!rc || n == 7);
	}
	double s = 7;
	CHECK(!age_parse("30d", &s) && s == 2592000);
	CHECK(!age_parse("90", &s) && s == 90);
	CHECK(!age_parse("1.5 H", &s) && s == 5400);
	CHECK(age_parse("1y", &s) && age_parse("d", &s) && s == 5400);

	static const struct {
		uint64_t n;
		const char *text;
	} printed[] = {
		{ 0, "0 bytes" },
		{ 1, "1 byte" },
		{ 1023, "1023 bytes" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ 1048575, "1.0 MiB" },
		{ 10737418240, "10.0 GiB" },
		{ UINT64_MAX, "16384.0 PiB" },
	};
	struct buf text = BUF_INIT;
	for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
		buf_reset(&text);
		bytes_print(printed[i].n, &text);
		CHECK_STR(buf_str(&text), printed[i].text);
	}
	buf_release(&text);
}

int main(void)
{
	check_parse();
	check_json();
	check_print();
	check_quantities();
	CHECK_INT(value_components(VALUE_BOOL), 1);
	CHECK_INT(value_components(VALUE_VEC3), 3);
	return test_done();
}
