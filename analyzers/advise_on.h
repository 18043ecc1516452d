/* advise_on.h - the rules of advice, each in the file whose name says what it is about: advise_on_pieces.c,
 * advise_on_waste.c, advise_on_padding.c, advise_on_ops.c, advise_on_steps.c, advise_on_kernels.c, advise_on_device.c.
 * advice.c calls them in order. */
#ifndef IDS_ANALYZERS_ADVISE_ON_H
#define IDS_ANALYZERS_ADVISE_ON_H

#include "analyzers/adviser.h"

int ids_advise_on_pieces(struct ids_adviser *adviser); /* 0: there is something to say, and too little to say it on */
/* `piece`: what rests on too little; NULL: all does. */
void ids_say_too_little(struct ids_adviser *adviser, const struct ids_piece *piece);

void ids_advise_on_proven(struct ids_adviser *adviser); /* waste */
void ids_advise_on_waste(struct ids_adviser *adviser);
void ids_advise_on_padding(struct ids_adviser *adviser);

/* 1: no piece of the ledger, and nothing that a program proves to be wasted, has more than a tenth of the time. */
int ids_wins_little(const struct ids_adviser *adviser);
/* A kind of waste has half of the compute or more. */
int ids_wastes_most(const struct ids_adviser *adviser);
void ids_advise_on_compute(struct ids_adviser *adviser); /* ops */
void ids_advise_on_loss(struct ids_adviser *adviser);
void ids_advise_on_one_op(struct ids_adviser *adviser);

void ids_advise_on_warm_up(struct ids_adviser *adviser); /* steps */
void ids_advise_on_time_outside(struct ids_adviser *adviser);

void ids_advise_on_small_kernels(struct ids_adviser *adviser); /* kernels */
void ids_advise_on_kernels(struct ids_adviser *adviser);

void ids_advise_on_memory(struct ids_adviser *adviser); /* device */
void ids_advise_on_programs_memory(struct ids_adviser *adviser);
void ids_advise_on_clock(struct ids_adviser *adviser);
void ids_advise_on_host_ops(struct ids_adviser *adviser);
void ids_advise_on_cores(struct ids_adviser *adviser);

#endif
