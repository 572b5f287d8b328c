#ifndef STBUILD_UTIL_LIMITS_H
#define STBUILD_UTIL_LIMITS_H

/*
 * Every ceiling, one a line, each with its reason. Input beyond one is refused
 * with a message that names it; nothing is allocated first.
 */

/* Fixed by the manifest format (stbuild.json(5)). */
#define LIMIT_SIZE 16384  /* width, height: GL_MAX_TEXTURE_SIZE of GL 4.x parts */
#define LIMIT_VOLUME 2048 /* of a volume: GL 4.x minimum of MAX_3D_TEXTURE_SIZE */
#define LIMIT_FPS 1000.0
#define LIMIT_FRAME 100000000 /* 19 days at 60 fps; frame x fps stays exact in double */
#define LIMIT_ITERATIONS 4096
#define LIMIT_LOCAL_INVOCATIONS \
	1024                   /* GL 4.3 minimum of MAX_COMPUTE_WORK_GROUP_INVOCATIONS */
#define LIMIT_SOUND_S 3600     /* 635 MB of 16-bit stereo */
#define LIMIT_CHANNELS 16      /* iChannel0..15 */
#define LIMIT_EXTRA_OUTPUTS 7  /* 8 colour attachments */
#define LIMIT_STORAGE_NAMES 64 /* .ststate format 4 */
#define LIMIT_STATE_BUFFERS 64 /* .ststate */
#define LIMIT_TEST_FRAMES 1024
#define LIMIT_TEST_RESOLUTIONS 32
#define LIMIT_TEST_VARIANTS 1024

/* Ours: what a reader takes from outside. */
#define LIMIT_MANIFEST_BYTES (16u << 20)  /* a manifest of 10,000 traces is 2 MiB */
#define LIMIT_DOCUMENT_BYTES (512u << 20) /* STTF with base64 volumes */
#define LIMIT_DOCUMENT_NODES 4096         /* of an STTF: 256 passes with 16 channels */
#define LIMIT_TRACE_BYTES (128u << 20)    /* trace.json: a manifest, indented */
#define LIMIT_ARTIFACT_BYTES (8ull << 30) /* of a bundle; 16384 x 16384 RGBA32F is half */
#define LIMIT_SOURCE_BYTES (16u << 20)    /* one GLSL file */
#define LIMIT_EXPANDED_BYTES (64u << 20)  /* one pass with its includes */
#define LIMIT_MACRO_TOKENS (4u << 20)     /* one pass after its macros */
#define LIMIT_MACRO_NESTING 256   /* calls of macros within arguments; () in #if */
#define LIMIT_MACRO_BRANCHES 1024 /* #ifs that are open */
#define LIMIT_ASSET_BYTES (1024u << 20)
#define LIMIT_NESTING 64 /* JSON and TOML values */
#define LIMIT_INCLUDE_DEPTH 64
#define LIMIT_STATE_HEADER (1u << 20) /* .ststate header */
#define LIMIT_PASSES 256
#define LIMIT_TRACES 1000000
#define LIMIT_FRAME_LIST 1000000     /* frames of one trace: 4 MB, 4.6 hours at 60 fps */
#define LIMIT_FRAMES_IN_ALL 10000000 /* of all lists of a manifest: 40 MB */
#define LIMIT_VALUES 2000000         /* of a document; 128 bytes each as tree and mark */
#define LIMIT_ERRORS 100             /* of one manifest; then "and N more" */

/* Reports: what is written, so that a browser opens it. */
#define LIMIT_BASELINES_BYTES (32u << 20) /* 100,000 lines */
#define LIMIT_BASELINES_LINE 4096         /* names, a hash and a reason */
#define LIMIT_REPORT_INLINE (8u << 20)    /* text of pictures in the page itself */
#define LIMIT_REPORT_LAYER (64u << 20)    /* one float output: 2048 x 2048 */
#define LIMIT_REPORT_PAGE (256u << 20)    /* index.html when it is looked at again */

#endif
