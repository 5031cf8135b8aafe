"""A network learns to carry a box on two sticks."""

import control

TITLE = "learning control: sticks"
PAPER = ("A network (50 and 200 ReLU) drives two sticks to bring an object to any target in 1 s, from the offset to the target, the "
         "object's speed and the time that remains; one update per episode. DDPG does not learn it on that scale. The released program "
         "has a gripper of one body, g = 1 m/s^2 and two small sets of goals; here a box lies on two sticks, held by friction alone, "
         "under 9.81 m/s^2, and targets are anywhere in a box of 0.8 x 0.8 x 0.6 m.")

TRIED = ("TODO")


def run(kit):
    control.report(kit, "sticks", TRIED)
