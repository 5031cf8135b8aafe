"""A network learns to carry a box on two sticks."""

import control

TITLE = "learning control: sticks"
PAPER = ("A network (50 and 200 ReLU) drives two sticks to bring an object to any target in 1 s, from the offset to the target, the "
         "object's speed and the time that remains; one update per episode. DDPG does not learn it on that scale. The released program "
         "has a gripper of one body, g = 1 m/s^2 and two small sets of goals; here a box lies on two sticks, held by friction alone, "
         "under 9.81 m/s^2, and targets are anywhere in a box of 0.8 x 0.8 x 0.6 m.")

TRIED = ("All was chosen on seeds 100 to 104 and 16 other test targets, by what 200 episodes of one to five seeds came to (% of the start). Adam: "
         "rate 3e-3 with betas 0.9, 0.999, targets by chance and offsets times 1, as before (10.8); betas 0.9, 0.95 (7.0, 8.3); clipped at 0.3 "
         "with rate 5e-3 (5.1); rate 5e-3 and Halton targets (4.9, 5.0); 1e-2 (4.8, 5.2); 7e-3 with betas 0.8, 0.9 (4.6, 3.5); the distance "
         "instead of its square (8.8, 4.1, and 6.4, 3.1 at 7e-3); the mean of the last weights (no better); offsets times 2, clipped at 0.5 (4.1, "
         "2.4, 3.5, 4.0, 2.7: taken); times 4 (6.2, 3.5). Gauss-Newton: damping 0.1 over 20 episodes, weight 0.9 (2.3, 3.2); 0.2 and 0.93 "
         "(4.4); 0.02 over 60, 0.97 (4.2); 0.1 falling to 0.01 over 20, 0.9 (3.4); falling to 0.005 over 30, 0.93 (1.4, 1.3: taken).")


def run(kit):
    control.report(kit, "sticks", TRIED)
