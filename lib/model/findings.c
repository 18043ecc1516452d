#include "lib/model/findings.h"

#include <stdlib.h>

void ids_findings_done(struct ids_findings *findings) {
    free(findings->devices);
    free(findings->steps);
    free(findings->work);
    free(findings->deeds);
    free(findings->late);
    *findings = (struct ids_findings){0};
}
