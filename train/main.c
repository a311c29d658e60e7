/* main.c -- the program heed: heed_program over the models of this project. */
#include <heed/models.h>
#include <heed/program.h>

int main(int argc, char **argv) { return heed_program(argc, argv, heed_models); }
