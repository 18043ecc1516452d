/* step_marks.h - how a program marks its steps: JAX's annotation has step_num, PyTorch's profile.step() writes
 * "ProfilerStep#N". Said wherever something needs steps and finds none. */
#ifndef IDS_MODEL_STEP_MARKS_H
#define IDS_MODEL_STEP_MARKS_H

#define IDS_HOW_TO_MARK_STEPS "mark them by jax.profiler.StepTraceAnnotation or torch.profiler's step()"

#endif
