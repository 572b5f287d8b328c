/*
 * The texts that the shadertoy CLI 2.5 compiles (sttf(5), "GLSLShader"): desktop
 * GLSL, a header, the source as it stands, and main() behind it.
 */
#include "glsl/shader.h"

#include <stdio.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

static void add_audio(struct buf *out)
{
	static const struct {
		const char *vector;
		const char *word[4];
	} row[] = {
		{ "Bands", { "Loudness", "Bass", "Mid", "Treble" } },
		{ "Hits", { "Onset", "Kick", "Snare", "Hihat" } },
		{ "Beat", { "Bpm", "BeatPhase", "BeatConfidence", "BeatStrength" } },
		{ "Stereo",
		    { "StereoWidth", "StereoBalance", "StereoCorrelation",
			"EnergyTrend" } },
		{ "Structure",
		    { "Drop", "SectionChange", "SpectralCentroid", "SpectralFlux" } },
		{ "Meta", { "Available", "Silence", "SampleRate", NULL } },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		buf_addf(out, "uniform vec4 iMusic%s;\n", row[i].vector);
		for (int k = 0; k < 4 && row[i].word[k]; k++)
			buf_addf(out, "#define iAudio%s (iMusic%s.%c)\n", row[i].word[k],
			    row[i].vector, "xyzw"[k]);
	}
	for (int wave = 0; wave < 2; wave++)
		buf_addf(out,
		    "float sampleAudio%s(sampler2D music, float x)\n"
		    "{ return texture(music, vec2(clamp(x, 0.0, 1.0), %s)).r%s; }\n",
		    wave ? "Waveform" : "Spectrum", wave ? "0.75" : "0.25",
		    wave ? " * 2.0 - 1.0" : "");
}

static void add_uniforms(struct buf *out, int is_compute)
{
	buf_addf(out,
	    "uniform vec3 iResolution;\n"
	    "uniform float iTime;\n"
	    "uniform float iTimeDelta;\n"
	    "uniform float iFrameRate;\n"
	    "uniform int iFrame;\n"
	    "%s"
	    "uniform vec4 iMouse;\n"
	    "uniform vec4 iDate;\n"
	    "uniform vec3 iChannelResolution[%d];\n"
	    "uniform float iChannelTime[%d];\n",
	    is_compute ? "uniform int iIteration;\n" : "", LIMIT_CHANNELS,
	    LIMIT_CHANNELS);
	add_audio(out);
	buf_addstr(out, "#define char char_\n");
}

/* In the order of the inputs. */
static void add_channels(struct buf *out, const struct manifest *m,
    const struct pass *pass)
{
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		int is_cube = in->kind == INPUT_CUBEMAP ||
		    (in->kind == INPUT_PASS && m->pass[in->pass].kind == PASS_CUBEMAP);
		buf_addf(out, "uniform sampler%s iChannel%d;\n",
		    is_cube                        ? "Cube"
			: in->kind == INPUT_VOLUME ? "3D"
						   : "2D",
		    in->channel);
	}
}

static void add_outputs(struct buf *out, const struct pass *pass, const int size[3])
{
	buf_addf(out,
	    "layout(local_size_x = %d, local_size_y = %d, "
	    "local_size_z = %d) in;\n",
	    size[0], size[1], size[2]);
	for (int k = 0; k <= pass->nextra_output; k++) {
		char number[16] = "";
		if (k > 0)
			snprintf(number, sizeof number, "%d", k);
		buf_addf(out, "layout(%s, binding = %d) uniform image2D iOutput%s;\n",
		    format_name(pass_format(pass, k)), k, number);
	}
}

static const char compute_main[] =
    "\nvoid main() {\n"
    "	ivec2 coord = ivec2(gl_GlobalInvocationID.xy);\n"
    "	if (any(greaterThanEqual(coord, ivec2(iResolution.xy))))\n"
    "		return;\n"
    "	mainCompute(coord);\n"
    "}\n";

static const char image_main[] =
    "\nvoid main() {\n"
    "	vec4 output_color = vec4(1e20);\n"
    "	mainImage(output_color, gl_FragCoord.xy);\n"
    "	out_frag_color = vec4(clamp(output_color.xyz, vec3(0.0), vec3(1.0)), "
    "1.0);\n"
    "}\n";

static const char buffer_main[] = "\nvoid main() {\n"
				  "	vec4 output_color = vec4(1e20);\n"
				  "	mainImage(output_color, gl_FragCoord.xy);\n"
				  "	out_frag_color = output_color;\n"
				  "}\n";

static const char cubemap_main[] =
    "\nvoid main() {\n"
    "	vec4 output_color = vec4(1e20);\n"
    "	mainCubemap(output_color, gl_FragCoord.xy, vec3(0.0), "
    "normalize(f_point));\n"
    "	out_frag_color = output_color;\n"
    "}\n";

/* A fan of two triangles over the viewport; on a face the point goes along. */
static void add_vertex(struct buf *out, int version, int is_cubemap)
{
	buf_addf(out, "#version %d core\n", version);
	if (is_cubemap)
		buf_addstr(out,
		    "uniform int " SHADER_FACE ";\n"
		    "layout(location = 1) out vec3 f_point;\n");
	buf_addstr(out,
	    "void main()\n"
	    "{\n"
	    "	vec2 p = vec2(gl_VertexID < 2 ? -1.0 : 1.0,\n"
	    "		gl_VertexID == 1 || gl_VertexID == 2 ? 1.0 : -1.0);\n"
	    "	gl_Position = vec4(p, 0.0, 1.0);\n");
	if (is_cubemap)
		buf_addstr(out,
		    "	f_point = " SHADER_FACE " == 0 ? vec3(1.0, -p.y, -p.x)\n"
		    "		: " SHADER_FACE " == 1 ? vec3(-1.0, -p.y, p.x)\n"
		    "		: " SHADER_FACE " == 2 ? vec3(p.x, 1.0, p.y)\n"
		    "		: " SHADER_FACE " == 3 ? vec3(p.x, -1.0, -p.y)\n"
		    "		: " SHADER_FACE " == 4 ? vec3(p.x, -p.y, 1.0)\n"
		    "		: vec3(-p.x, -p.y, -1.0);\n");
	buf_addstr(out, "}\n");
}

void shader_plain(const struct variant *v, int p, const struct source *source,
    struct shader *out)
{
	const struct manifest *m = v->manifest;
	const struct pass *pass = &m->pass[p];
	struct buf stage = BUF_INIT, vertex = BUF_INIT;
	int is_compute = pass->kind == PASS_COMPUTE;
	int is_cubemap = pass->kind == PASS_CUBEMAP;
	int version = is_compute || pass->nstorage ? 430 : 410;

	*out = (struct shader){ .is_compute = is_compute };
	buf_addf(&stage, "#version %d core\n", version);
	if (is_cubemap)
		buf_addstr(&stage,
		    "#define INTERFACE_SHADERTOY_CUBE_MAP\n"
		    "layout(location = 1) in vec3 f_point;\n");
	if (is_compute)
		add_outputs(&stage, pass, v->pass[p].local_size);
	else
		buf_addstr(&stage, "layout(location = 0) out vec4 out_frag_color;\n");
	add_uniforms(&stage, is_compute);
	add_channels(&stage, m, pass);
	if (pass->kind == PASS_IMAGE)
		buf_addstr(&stage, "#define SHADERTOY_CLAMP_OUTPUT\n");
	buf_addstr(&stage, "#line 1\n");
	buf_add(&stage, source->text, source->ntext);
	buf_addstr(&stage,
	    is_compute                     ? compute_main
		: is_cubemap               ? cubemap_main
		: pass->kind == PASS_IMAGE ? image_main
					   : buffer_main);
	out->stage = buf_detach(&stage);
	if (is_compute)
		return;
	add_vertex(&vertex, version, is_cubemap);
	out->vertex = buf_detach(&vertex);
}
