#include "lib/model/findings.h"

#include <stdlib.h>

void ids_findings_done(struct ids_findings *findings) {
    free(findings->devices);
    free(findings->peaks);
    free(findings->steps);
    free(findings->work);
    free(findings->host_activities);
    free(findings->launches);
    ids_found_intervals_done(&findings->intervals);
    free(findings->culprits);
    free(findings->device_steps);
    ids_arena_done(&findings->texts);
    *findings = (struct ids_findings){0};
}
