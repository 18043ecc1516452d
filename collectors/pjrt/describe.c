/* What a program is: asked of the plugin in the calls that compile or load it. */
#include "collectors/pjrt/describe.h"

#include "collectors/common/agent.h"
#include "collectors/pjrt/programs.h"
#include "collectors/pjrt/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 };
static const char nameless[] = "(no name)";

static void keep_hlo(void *executable, uint32_t id) {
    struct pjrt_program program = {.size = sizeof program};
    struct pjrt_optimized_program args = {.size = sizeof args, .executable = executable, .program = &program};
    static int is_off = -1;
    if (is_off < 0) {
        const char *wanted = getenv("IDSPROF_PJRT_HLO");
        is_off = wanted && !strcmp(wanted, "0");
    }
    if (is_off || !id || ids_pjrt_try(PJRT_EXECUTABLE_OPTIMIZED_PROGRAM, &args)) return;
    int with_config = program.format_size == 15 && !memcmp(program.format, "hlo_with_config", 15);
    int plain = program.format_size == 3 && !memcmp(program.format, "hlo", 3);
    if ((!with_config && !plain) || !program.code_size || program.code_size > IDS_PROGRAM_HLO) return;
    program.code = malloc(program.code_size);
    if (program.code && !ids_pjrt_try(PJRT_EXECUTABLE_OPTIMIZED_PROGRAM, &args)) {
        ids_programs_keep_hlo(id, program.code, program.code_size, with_config);
    }
    free(program.code);
}

uint32_t ids_describe_executable(void *executable) {
    struct pjrt_executable_name name = {.size = sizeof name, .executable = executable};
    struct pjrt_executable_code_size code = {.size = sizeof code, .executable = executable};
    if (ids_pjrt_try(PJRT_EXECUTABLE_NAME, &name) || !name.name) {
        name.name = nameless;
        name.name_size = sizeof nameless - 1;
    }
    uint32_t id = ids_programs_add(name.name, name.name_size);
    if (id && !ids_pjrt_try(PJRT_EXECUTABLE_CODE_SIZE, &code)) ids_programs_at(id)->code_size = code.code_size;
    keep_hlo(executable, id);
    return id;
}

uint32_t ids_describe_loaded(void *loaded) {
    struct pjrt_loaded_get_executable get = {.size = sizeof get, .loaded = loaded};
    uint32_t id;
    if (!loaded) return 0;
    if (ids_pjrt_try(PJRT_LOADED_EXECUTABLE_GET_EXECUTABLE, &get) || !get.executable) {
        id = ids_programs_add(nameless, sizeof nameless - 1); /* its executions are steps all the same */
    } else {
        struct pjrt_executable destroy = {.size = sizeof destroy, .executable = get.executable};
        id = ids_describe_executable(get.executable);
        ids_pjrt_try(PJRT_EXECUTABLE_DESTROY, &destroy);
    }
    ids_programs_loaded(loaded, id);
    return id;
}

/* ---- the client ---- */

static void say_text(void *client, enum pjrt_entry entry, const char *key) {
    struct pjrt_client_text text = {.size = sizeof text, .client = client};
    char value[TEXT];
    if (ids_pjrt_try(entry, &text) || !text.text) return;
    const char *line = memchr(text.text, '\n', text.length);
    int length = (int)(line ? (size_t)(line - text.text) : text.length < TEXT ? text.length : TEXT);
    snprintf(value, sizeof value, "%.*s", length, text.text);
    ids_agent_say(ids_pjrt.handle, key, value);
}

static void say_devices(void *client) {
    struct pjrt_client_devices devices = {.size = sizeof devices, .client = client};
    char value[TEXT + 32];
    if (ids_pjrt_try(PJRT_CLIENT_ADDRESSABLE_DEVICES, &devices) || !devices.devices || !devices.count) return;
    struct pjrt_device_description description = {.size = sizeof description, .device = devices.devices[0]};
    struct pjrt_description_text kind = {.size = sizeof kind};
    if (ids_pjrt_try(PJRT_DEVICE_GET_DESCRIPTION, &description)) return;
    kind.description = description.description;
    if (ids_pjrt_try(PJRT_DEVICE_DESCRIPTION_KIND, &kind) || !kind.text) return;
    snprintf(value, sizeof value, "%.*s x %zu", (int)(kind.length < TEXT ? kind.length : TEXT), kind.text,
             devices.count);
    ids_agent_say(ids_pjrt.handle, "device", value);
}

void ids_describe_client(void *client) {
    struct pjrt_client_process_index index = {.size = sizeof index, .client = client};
    say_text(client, PJRT_CLIENT_PLATFORM_NAME, "platform");
    say_text(client, PJRT_CLIENT_PLATFORM_VERSION, "platform version");
    say_devices(client);
    /* 0 is also what a process alone has, whose rank the environment may know better. */
    if (!ids_pjrt_try(PJRT_CLIENT_PROCESS_INDEX, &index) && index.index > 0) ids_agent_rank(index.index);
}
