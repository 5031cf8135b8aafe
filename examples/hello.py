"""hello.py - drop a box on the ground, see where it comes to rest and what decides it."""
import carom

scene = carom.Scene(world={"dt": 0.01, "thickness": 0.001})
scene.add_body("ground", type="fixed", mesh={"sheet": {"width": 4}})
scene.add_body("box", mesh={"box": {"size": [0.3, 0.2, 0.2]}}, position=[0, 0, 0.5],
               velocity=[2, 0, 0], euler_degrees=[20, 0, 0], friction=0.2)

sim = carom.Sim(scene, parameters=["box.velocity", "ground.friction"])
run = sim.rollout(seconds=1)
print(f"after {run.times[-1]:.2f} s the box is at {run.positions[-1, 1].round(3)} m")
print(f"the ground carries {run.forces[-1, 1, 2]:.2f} N of the box's "
      f"{9.81 * sim.body('box').mass:.2f} N")

bars = run.zeros()
bars.positions[-1, 1, 0] = 1  # L: where the box ends along x
for name, value in run.vjp(bars).parameters.items():
    print(f"d(end)/d({name}) = {value.round(4)}")
