#include "lib/hlo/opcode.h"

enum ids_collective ids_collective_of_opcode(struct ids_text opcode) {
    static const struct {
        const char *prefix;
        enum ids_collective collective;
    } table[] = {
        {"all-reduce", IDS_ALL_REDUCE},
        {"all-gather", IDS_ALL_GATHER},
        {"reduce-scatter", IDS_REDUCE_SCATTER},
        {"all-to-all", IDS_ALL_TO_ALL},
        {"ragged-all-to-all", IDS_ALL_TO_ALL},
        {"collective-permute", IDS_PERMUTE},
        {"collective-broadcast", IDS_BROADCAST},
        {"send", IDS_SEND_RECV},
        {"recv", IDS_SEND_RECV},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (ids_text_begins(opcode, table[i].prefix)) return table[i].collective;
    }
    return IDS_NO_COLLECTIVE;
}

int ids_opcode_is_marker(struct ids_text opcode) {
    return ids_text_ends(opcode, "-start") || ids_text_ends(opcode, "-done");
}

int ids_opcode_is_wait(struct ids_text opcode) {
    return ids_text_ends(opcode, "-done");
}

int ids_opcode_is_container(struct ids_text opcode) {
    return ids_text_is(opcode, "while") || ids_text_is(opcode, "conditional") || ids_text_is(opcode, "call");
}

int ids_opcode_is_transfer(struct ids_text opcode) {
    return ids_text_begins(opcode, "copy-start") || ids_text_begins(opcode, "infeed") ||
           ids_text_begins(opcode, "outfeed") || ids_text_begins(opcode, "host send") ||
           ids_text_begins(opcode, "host recv");
}
