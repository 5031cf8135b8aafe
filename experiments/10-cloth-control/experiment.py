"""A network learns to move a ball by the corners of the cloth it lies on."""

import control

TITLE = "learning control: cloth"
PAPER = ("A network moves a cloth by its corners to bring the object that lies on it to the target. In the released program the loss is on "
         "the cloth's mean and the target is no input; here, as in the paper, it is on the object, and the target is an input.")


def run(kit):
    control.report(kit, "cloth", 3e-3, 4.0, "rate 3e-3 falling as a cosine, gradients clipped at 1, offsets times 4. Tried with one seed "
                   "and on the same test targets: offsets times 1 (9.3 %), times 4 (7.8 % after 150), and, stopped on the way, 5e-3, 1e-2 and "
                   "the plain distance")
