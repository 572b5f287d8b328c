#include "store/db.h"

#include <stdio.h>

#include "util/log.h"
#include "util/mem.h"

/*
 * History is what cannot be made again: which contents were seen, and which
 * bundles are ours. Everything below it can be lost without harm but time.
 * Sizes, times and the parts of stamps are unsigned numbers by their bits.
 * "used" is the time of last use or of writing, in seconds since 1970.
 */
static const char version_1[] =
    "CREATE TABLE history ("
    " id INTEGER PRIMARY KEY,"
    " trace TEXT NOT NULL,"
    " frame INTEGER NOT NULL,"
    " variant BLOB NOT NULL CHECK (length(variant) = 32),"
    " content_id BLOB NOT NULL CHECK (length(content_id) = 32),"
    " commit_id TEXT NOT NULL,"
    " is_dirty INTEGER NOT NULL,"
    " time INTEGER NOT NULL,"
    " UNIQUE (trace, frame, variant, content_id, commit_id, is_dirty));"
    /* file: struct bundle_file[], packed; they are only read together. */
    "CREATE TABLE bundle ("
    " path TEXT NOT NULL PRIMARY KEY,"
    " trace TEXT NOT NULL,"
    " frame INTEGER NOT NULL,"
    " variant BLOB NOT NULL CHECK (length(variant) = 32),"
    " stable_id BLOB NOT NULL CHECK (length(stable_id) = 32),"
    " content_id BLOB NOT NULL CHECK (length(content_id) = 32),"
    " commit_id TEXT NOT NULL,"
    " is_dirty INTEGER NOT NULL,"
    " file BLOB NOT NULL,"
    " inputs_id BLOB NOT NULL CHECK (length(inputs_id) = 32)) WITHOUT ROWID;"

    /* Recomputable from here on. */
    "CREATE TABLE object ("
    " id INTEGER PRIMARY KEY,"
    " sha BLOB NOT NULL UNIQUE CHECK (length(sha) = 32),"
    " size INTEGER NOT NULL,"
    " used INTEGER NOT NULL);"
    "CREATE INDEX object_used ON object (used, id);"
    "CREATE TABLE product ("
    " key BLOB NOT NULL CHECK (length(key) = 32),"
    " output INTEGER NOT NULL,"
    " object INTEGER NOT NULL REFERENCES object ON DELETE CASCADE,"
    " PRIMARY KEY (key, output)) WITHOUT ROWID;"
    "CREATE INDEX product_object ON product (object);"
    "CREATE TABLE derived ("
    " key BLOB NOT NULL CHECK (length(key) = 32),"
    " output INTEGER NOT NULL,"
    " object INTEGER NOT NULL REFERENCES object ON DELETE CASCADE,"
    " PRIMARY KEY (key, output)) WITHOUT ROWID;"
    "CREATE INDEX derived_object ON derived (object);"
    /* What the bundles of a content were written from, for gc. */
    "CREATE TABLE content ("
    " content_id BLOB NOT NULL CHECK (length(content_id) = 32),"
    " object INTEGER NOT NULL REFERENCES object ON DELETE CASCADE,"
    " PRIMARY KEY (content_id, object)) WITHOUT ROWID;"
    "CREATE INDEX content_object ON content (object);"
    "CREATE TABLE node ("
    " key BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 32),"
    " pass TEXT NOT NULL,"
    " frame INTEGER NOT NULL,"
    " shape TEXT NOT NULL,"
    " width INTEGER NOT NULL,"
    " height INTEGER NOT NULL,"
    " gpu_ns INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " used INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX node_place ON node (pass, frame, shape);"
    "CREATE TABLE cost ("
    " static_part BLOB NOT NULL CHECK (length(static_part) = 32),"
    " size INTEGER NOT NULL," /* size_class of node.c */
    " sample BLOB NOT NULL,"  /* u64 each, newest last */
    " used INTEGER NOT NULL,"
    " PRIMARY KEY (static_part, size)) WITHOUT ROWID;"
    "CREATE TABLE alias ("
    " key BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 32),"
    " earlier BLOB NOT NULL CHECK (length(earlier) = 32),"
    " used INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE program ("
    " id INTEGER PRIMARY KEY,"
    " program_id BLOB NOT NULL CHECK (length(program_id) = 32),"
    " driver BLOB NOT NULL CHECK (length(driver) = 32),"
    " ok INTEGER NOT NULL,"
    " log TEXT NOT NULL,"
    " reflection BLOB NOT NULL,"
    " used INTEGER NOT NULL,"
    " UNIQUE (program_id, driver));"
    "CREATE TABLE driver ("
    " option TEXT NOT NULL,"
    " identity BLOB NOT NULL CHECK (length(identity) = 32),"
    " identity_text TEXT NOT NULL,"
    " vendor TEXT NOT NULL,"
    " renderer TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " glsl_version TEXT NOT NULL,"
    " device TEXT NOT NULL,"
    " gl_version INTEGER NOT NULL,"
    " has_es3 INTEGER NOT NULL,"
    " is_software INTEGER NOT NULL,"
    " max_texture_size INTEGER NOT NULL,"
    " max_storage_bindings INTEGER NOT NULL,"
    " max_storage_bytes INTEGER NOT NULL,"
    " mapped TEXT NOT NULL,"
    " stamp BLOB NOT NULL CHECK (length(stamp) = 32),"
    " seq INTEGER NOT NULL," /* the newest has the highest */
    " PRIMARY KEY (option, identity));"
    "CREATE INDEX driver_seq ON driver (option, seq);"
    "CREATE TABLE stat ("
    " dev INTEGER NOT NULL,"
    " ino INTEGER NOT NULL,"
    " size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL,"
    " ctime_ns INTEGER NOT NULL,"
    " sha BLOB NOT NULL CHECK (length(sha) = 32),"
    " is_trusted INTEGER NOT NULL,"
    " hashed_ns INTEGER NOT NULL,"
    " PRIMARY KEY (dev, ino)) WITHOUT ROWID;"
    "CREATE TABLE blob ("
    " oid BLOB NOT NULL PRIMARY KEY CHECK (length(oid) = 20),"
    " sha BLOB NOT NULL CHECK (length(sha) = 32),"
    " used INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE memo ("
    " id INTEGER PRIMARY KEY,"
    " kind TEXT NOT NULL,"
    " key BLOB NOT NULL CHECK (length(key) = 32),"
    " data BLOB NOT NULL,"
    " used INTEGER NOT NULL,"
    " UNIQUE (kind, key));"
    "CREATE TABLE counter ("
    " name TEXT NOT NULL PRIMARY KEY,"
    " value INTEGER NOT NULL) WITHOUT ROWID;";

#define ADD_SUM(table, sum) \
	"ALTER TABLE " table " ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;" \
	"UPDATE " table " SET sum = " sum ";"

/* What is there is taken for right: nothing says otherwise. */
static const char version_2[] = ADD_SUM("product", SUM_PRODUCT) ADD_SUM("node", SUM_NODE)
    ADD_SUM("alias", SUM_ALIAS) ADD_SUM("program", SUM_PROGRAM)
	ADD_SUM("driver", SUM_DRIVER) ADD_SUM("stat", SUM_STAT) ADD_SUM("blob", SUM_BLOB)
	    ADD_SUM("memo", SUM_MEMO) ADD_SUM("bundle", SUM_BUNDLE)
    /* Nothing was ever in it. */
    "DROP TABLE derived;";

const char *const schema_upgrade[] = {
	version_1,
	version_2,
};

const int schema_version = sizeof schema_upgrade / sizeof *schema_upgrade;

int schema_check(struct store *s, int latest, enum schema_state *out, int *version_out,
    struct err *err)
{
	int64_t id, version, nobject, nforeign;
	if (sql_number(s, "PRAGMA application_id", &id, err) < 0 ||
	    sql_number(s, "PRAGMA user_version", &version, err) < 0 ||
	    sql_number(s, "SELECT count(*) FROM sqlite_master", &nobject, err) < 0 ||
	    sql_number(s,
		"SELECT count(*) FROM sqlite_master"
		" WHERE type IN ('trigger', 'view')",
		&nforeign, err) < 0)
		return -1;
	if (version_out)
		*version_out = (int)version;
	if (!id && !version && !nobject) {
		*out = SCHEMA_FRESH;
		return 0;
	}
	/* Ours has neither triggers nor views: they would run as we write. */
	if (id != STORE_APPLICATION_ID || version < 1 || nforeign)
		return err_set(err, STATUS_MACHINE,
		    "'%s' is not a database of stbuild;"
		    " move it away, or name another store with --store",
		    s->db_path);
	if (version > latest)
		return err_set(err, STATUS_MACHINE,
		    "'%s' was written by a newer"
		    " stbuild (its version is %lld, this stbuild knows %d);"
		    " use that stbuild, or another store with --store",
		    s->db_path, (long long)version, latest);
	*out = version < latest ? SCHEMA_OLD : SCHEMA_CURRENT;
	return 0;
}

int schema_connect(struct store *s, struct err *err)
{
	sqlite3_busy_handler(s->db, lock_busy, s);
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (sql_add_sum(s, err) < 0)
		return -1;
	return sql_exec(s,
	    "PRAGMA foreign_keys = ON;"
	    " PRAGMA synchronous = NORMAL;"
	    " PRAGMA trusted_schema = OFF;"
	    " PRAGMA cell_size_check = ON",
	    err);
}

/* The database as it is, beside it. */
static int back_up(struct store *s, int version, struct err *err)
{
	char *copy = xasprintf("%s.v%d.bak", s->db_path, version);
	char *aside = xasprintf("%s/tmp/upgrade-v%d", s->dir, version);
	char *text = sqlite3_mprintf("VACUUM INTO %Q", aside);
	int rc = fs_remove(aside, err);
	if (!rc)
		rc = sql_exec(s, text, err);
	if (!rc && rename(aside, copy) < 0)
		rc = err_errno(err, STATUS_MACHINE, "cannot write '%s'", copy);
	if (!rc)
		log_info("stbuild: upgrading the store; the old database is kept as"
			 " '%s'",
		    copy);
	else
		err_wrap(err, "while copying the database before its upgrade");
	sqlite3_free(text);
	free(aside);
	free(copy);
	return rc;
}

int schema_apply(struct store *s, const char *const upgrade[], int latest,
    struct err *err)
{
	enum schema_state state;
	int version = 0;
	/* Somebody else may have been faster. */
	if (schema_check(s, latest, &state, &version, err) < 0)
		return -1;
	if (state == SCHEMA_CURRENT)
		return 0;
	if (state == SCHEMA_FRESH) {
		if (sql_exec(s,
			"PRAGMA auto_vacuum = INCREMENTAL;"
			" PRAGMA journal_mode = WAL",
			err) < 0)
			return err_wrap(err, "while creating the store");
	} else if (back_up(s, version, err) < 0) {
		return -1;
	}
	/* An upgrade may build a table anew under the same name. */
	char *end =
	    xasprintf("PRAGMA application_id = %d;"
		      " PRAGMA user_version = %d; COMMIT; PRAGMA foreign_keys = ON",
		STORE_APPLICATION_ID, latest);
	int rc = sql_exec(s, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", err);
	for (int i = version; i < latest && !rc; i++)
		rc = sql_exec(s, upgrade[i], err);
	if (!rc)
		rc = sql_exec(s, end, err);
	if (rc < 0) {
		/* Fails where SQLite has done so by itself, which is as good. */
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		if (version)
			err_wrap(err, "while upgrading the store from version %d",
			    version);
		else
			err_wrap(err, "while creating the store");
	}
	free(end);
	return rc;
}
