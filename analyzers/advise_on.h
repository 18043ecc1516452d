/* advise_on.h - the rules of advice, each in the file whose name says what it is about: advise_on_pieces.c,
 * advise_on_waste.c, advise_on_padding.c, advise_on_ops.c, advise_on_steps.c, advise_on_kernels.c, advise_on_device.c,
 * advise_on_start.c, advise_on_exchange.c, advise_on_evaluation.c. advice.c calls them in order. */
#ifndef IDS_ANALYZERS_ADVISE_ON_H
#define IDS_ANALYZERS_ADVISE_ON_H

#include "analyzers/adviser.h"
#include "analyzers/kernel_advice.h"

/* The largest piece that rests on too little, and was not said; NULL: there is none. */
const struct ids_piece *ids_advise_on_pieces(struct ids_adviser *adviser);
/* `piece`: what rests on too little; NULL: all does. */
void ids_say_too_little(struct ids_adviser *adviser, const struct ids_piece *piece);

void ids_advise_on_proven(struct ids_adviser *adviser); /* waste */
void ids_advise_on_waste(struct ids_adviser *adviser);
void ids_advise_on_padding(struct ids_adviser *adviser);

/* 1: no piece of the ledger, and nothing that a program proves to be wasted, has more than a tenth of the time. */
int ids_wins_little(const struct ids_adviser *adviser);
/* A kind of waste has a quarter of the compute or more. */
int ids_wastes_much(const struct ids_adviser *adviser);
void ids_advise_on_compute(struct ids_adviser *adviser); /* ops */
void ids_advise_on_loss(struct ids_adviser *adviser);
void ids_advise_on_one_op(struct ids_adviser *adviser);

void ids_advise_on_warm_up(struct ids_adviser *adviser); /* steps */
void ids_advise_on_time_outside(struct ids_adviser *adviser);
void ids_advise_on_opening(struct ids_adviser *adviser); /* after all others */

void ids_advise_on_start(struct ids_adviser *adviser); /* start */

void ids_advise_on_evaluation(struct ids_adviser *adviser); /* evaluation */

void ids_advise_on_buffers(struct ids_adviser *adviser); /* exchange */
/* ". They are 404 collectives a step, ...", of what has the same remedy, whoever launches them; "" where they are
 * few. */
const char *ids_many_collectives_in_words(const struct ids_adviser *adviser, const struct ids_piece *piece);

void ids_advise_on_small_kernels(struct ids_adviser *adviser); /* kernels */
void ids_advise_on_kernels(struct ids_adviser *adviser);
/* Of the device that decides; said once, of what computes most of the step or after it. */
struct ids_kernel_advice ids_matrix_advice_of(const struct ids_adviser *adviser);

void ids_advise_on_memory(struct ids_adviser *adviser, int is_steady); /* device */
/* `first`: only what may take a tenth of the step or more, or where memory is short; else what is not said yet. */
void ids_advise_on_programs_memory(struct ids_adviser *adviser, int first);
void ids_advise_on_clock(struct ids_adviser *adviser);
void ids_advise_on_host_ops(struct ids_adviser *adviser);
/* `first`: only where times are the machine's more than the program's; else only where they are not. */
void ids_advise_on_cores(struct ids_adviser *adviser, int first);
/* The same, before the piece at `from`, where that is a wait for the device, of which most may be for a core. */
void ids_advise_on_cores_before_waits(struct ids_adviser *adviser, size_t from);

#endif
