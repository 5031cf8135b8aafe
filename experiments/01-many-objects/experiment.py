"""Figure 3, top: time and memory against the number of objects."""

from kit import slope

TITLE = "many objects"
PAPER = ("20 to 1000 objects fall, hit the ground and settle, 2 s; time and memory grow linearly (Figure 3, top). Ours are "
         "boxes, spheres of 42 and 162 vertices and figurines in turn, at h = 1/100 s; the released program's are "
         "tetrahedra without gravity, 20 steps.")
RELEASED = {20: (1.15, 0.070, 265), 50: (3.08, 0.237, 295), 100: (5.27, 0.37, 346), 200: (11.5, 0.88, 459),
            500: (33.4, 3.4, 764), 1000: (70.6, 7.45, 1278)}  # s forward, s backward of 20 steps, MB


def run(kit):
    sizes = [20, 50, 100] if kit.quick else list(RELEASED)
    steps = 60 if kit.quick else 200
    lines = kit.carom("bench", "many-objects", "--n", ",".join(map(str, sizes)), "--steps", steps,
                      "--set", "world.friction=0.5")
    rows = []
    for line in lines:
        forward, backward, mb = RELEASED[line["n"]]
        rows.append([line["n"], line["forward_s_per_step"], line["backward_s_per_step"], line["peak_rss_bytes"] / 1e6,
                     line["tape_bytes_per_step"], forward / 20, backward / 20, mb])
    kit.table("scaling", ["objects", "forward s/step", "backward s/step", "peak MB", "tape bytes/step",
                          "released forward", "released backward", "released MB"], rows)
    n = [row[0] for row in rows]
    forward, backward, memory = ([row[i] for row in rows] for i in (1, 2, 3))
    kit.plot("scaling", {"forward": (n, forward), "backward": (n, backward),
                         "released, forward": (n, [row[5] for row in rows]),
                         "released, backward": (n, [row[6] for row in rows])}, "objects", "s per step", True,
             "a step with many objects")
    largest = n[-1]
    ratio = RELEASED[largest][0] / 20 / forward[-1]
    kit.row(f"forward, {largest} objects", f"{1e3 * forward[-1]:.3g} ms/step, {ratio:.0f} times faster",
            released=f"{1e3 * RELEASED[largest][0] / 20:.0f} ms/step")
    kit.row(f"backward, {largest} objects", f"{1e3 * backward[-1]:.3g} ms/step",
            released=f"{1e3 * RELEASED[largest][1] / 20:.0f} ms/step")
    # a small quick run is mostly start-up, so only the full one is held to the slope
    for what, values in (("forward time", forward), ("backward time", backward), ("memory", memory)):
        s = slope(n, values)
        kit.row(f"log-log slope of {what}", f"{s:.2f}", None if kit.quick else s <= 1.1, paper="linear")
    at_rest(kit, 20 if kit.quick else 100)


def at_rest(kit, count):
    """After 2 s nothing moves any more."""
    import subprocess
    from kit import program
    scene = kit.path("scene.json")
    text = subprocess.run([program(), "bench", "many-objects", "--n", str(count), "--scene"], capture_output=True,
                          text=True, check=True).stdout
    with open(scene, "w") as file:
        file.write(text)
    out = kit.path("trajectory.carom")
    end = kit.carom("run", scene, "--seconds", 2, "--set", "world.friction=0.5", "--out", out)[0]["final"]
    speeds = sorted(sum(v * v for v in body["velocity"]) ** 0.5 for body in end.values() if "velocity" in body)
    middle = speeds[len(speeds) // 2]
    kit.row(f"{count} objects after 2 s", f"half of them slower than {1e3 * middle:.2g} mm/s, the fastest (balls roll) "
            f"{speeds[-1]:.2g} m/s", middle < 0.01)
    cross = kit.carom("intersect", out)[0]
    kit.row("frames that intersect", f"{cross['intersecting_frames']} of {cross['frames']}",
            cross["intersecting_frames"] == 0)
