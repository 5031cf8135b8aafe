"""A network learns to move a ball by the corners of the cloth it lies on."""

import control

TITLE = "learning control: cloth"
PAPER = ("A network moves a cloth by its corners to bring the object that lies on it to the target. In the released program the loss is on "
         "the cloth's mean and the target is no input; here, as in the paper, it is on the object, and the target is an input.")

TRIED = ("TODO")


def run(kit):
    control.report(kit, "cloth", TRIED)
