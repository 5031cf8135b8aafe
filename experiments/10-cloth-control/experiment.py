"""A network learns to move a ball by the corners of the cloth it lies on."""

import control

TITLE = "learning control: cloth"
PAPER = ("A network moves a cloth by its corners to bring the object that lies on it to the target. In the released program the loss is on "
         "the cloth's mean and the target is no input; here, as in the paper, it is on the object, and the target is an input.")


def run(kit):
    control.report(kit, "cloth", 1e-2, "rate 1e-2 falling as a cosine; tried 3e-3, 5e-3 and 1e-2",
                   "rates 1e-3, noise 0.3 falling to 0, rewards times 10, an update of 64 for each decision")
