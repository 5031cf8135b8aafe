// hello.c - drop a box on the ground and see where it comes to rest.
#include <carom/carom.h>
#include <stdio.h>

int main(void)
{
    carom_error error = {CAROM_OK, ""};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_body_state box = {{0}, {0}, {0}, {0}};
    if (carom_scene_load("examples/hello.json", &scene, &error) == CAROM_OK &&
        carom_model_create(scene, &model, &error) == CAROM_OK &&
        carom_sim_create(model, 1, &sim, &error) == CAROM_OK) {
        while (carom_sim_steps(sim) < 100 && carom_sim_step(sim, &error) == CAROM_OK) {
        }
        carom_sim_body(sim, carom_model_body_find(model, "box"), &box);
        printf("after %.2f s the box is at z = %.3f m\n", carom_sim_time(sim), box.position[2]);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    return error.status == CAROM_OK ? 0 : fprintf(stderr, "%s\n", error.message) > 0;
}
