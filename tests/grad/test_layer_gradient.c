// Gradients through contacts with a layer, against differences: sliding, rolling, resting, landing,
// sheets with bodies.
#include "grad_kit.h"

#define WORLD(H)                                                                                   \
    "'carom': 1, 'world': {'dt': " H ", 'friction_speed': 0.01, 'friction': 0.4, 'contact': "      \
    "'barrier'},"
#define FLOOR                                                                                      \
    "{'name': 'floor', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, 0.2]}}, 'position': [0, "  \
    "0, -0.1]}"
#define BOX(NAME, SIZE, PLACE, MORE)                                                               \
    "{'name': '" NAME "', 'mesh': {'box': {'size': [" SIZE                                         \
    "]}}, 'density': 500, 'position': [" PLACE "]" MORE "}"
#define OF(NAME, WHAT) "{'of': '" NAME "', 'what': '" WHAT "'}"
#define LAYER(NAME)                                                                                \
    OF(NAME, "contact_width") ", " OF(NAME, "contact_stiffness") ", " OF(NAME, "thickness")
#define WANT(NAME)                                                                                 \
    "{'what': 'position', 'of': '" NAME "', 'target': [0.1, 0.05, 0.2]}, "                         \
    "{'what': 'velocity', 'of': '" NAME "', 'target': [0.1, 0, 0.2], 'weight': 0.1}"

static const grad_kit_scene scenes[] = {
    {"box that slides and stops",
     "{" WORLD("0.01") "'bodies': [" FLOOR ", " BOX(
         "box", "0.2, 0.16, 0.12", "0, 0, 0.0608",
         ", 'velocity': [0.9, 0.2, 0], 'angular_velocity': "
         "[0, 0, 1]") "],"
                      "'objective': {'terms': [" WANT("box") "]}, 'parameters': [" OF(
                          "box",
                          "veloc"
                          "ity") ", " OF("box", "friction") ", " OF("box",
                                                                    "mass") ", " OF("box",
                                                                                    "angular_"
                                                                                    "velocity") ","
                                                                                                " " LAYER("box") ", {'what': 'gravity'}]}",
     30, 0},
    {"ball that slides, then rolls",
     "{" WORLD(
         "0.01") "'bodies': [" FLOOR ", {'name': 'ball', 'sphere': {'radius': 0.1}, "
                 "'position': [0, 0, 0.1005], 'velocity': [1, "
                 "0.2, 0], 'angular_velocity': [2, 0, 1]}],"
                 "'objective': {'terms': [" WANT("ball") "]}, 'parameters': [" OF(
                     "ball",
                     "ve"
                     "lo"
                     "ci"
                     "t"
                     "y") ", " OF("ball",
                                  "friction") ", " OF("ball",
                                                      "thickness") ", " OF("ball",
                                                                           "angular_velocity") ","
                                                                                               " " OF(
                                                                                                   "ba"
                                                                                                   "l"
                                                                                                   "l",
                                                                                                   "co"
                                                                                                   "nt"
                                                                                                   "ac"
                                                                                                   "t_"
                                                                                                   "wi"
                                                                                                   "dt"
                                                                                                   "h") ", " OF("ball",
                                                                                                                "contact_stiffness") "]}",
     30, 0},
    {"stack of three at rest, pulled sideways",
     "{" WORLD("0.0166666666666666666") "'bodies': [" FLOOR ", " BOX("low", "0.1, 0.1, 0.1", "0, 0, 0.0506", "") ", " BOX(
         "middle", "0.1, 0.1, 0.1", "0.004, 0.003, 0.1515",
         "") ", " BOX("high", "0.1, 0.1, 0.1", "-0.003, 0.005, 0.2524",
                      ", 'force': [0.5, 0.2, 0]") "],"
                                                  "'objective': {'terms': [" WANT("high") ", " WANT("low") "]}, 'parameters': [" OF(
                                                      "high",
                                                      "force") ", " OF("low",
                                                                       "mass") ", " OF("high",
                                                                                       "mass") ","
                                                                                               " " LAYER("low") ", " OF(
                                                                                                   "middle",
                                                                                                   "contact_stiffness") "]}",
     30, 0},
    {"box that lands on an edge",
     "{" WORLD(
         "0.005") "'bodies': [" FLOOR ", " BOX("box", "0.2, 0.16, 0.12", "0, 0, 0.16",
                                               ", 'euler_degrees': [30, 20, 10], "
                                               "'velocity': [0.4, 0.1, -0.5], 'angular_velocity': "
                                               "[1, 0.5, 0.2]") "],"
                                                                "'objective': "
                                                                "{'terms': [" WANT(
                                                                    "bo"
                                                                    "x") "]}, "
                                                                         "'parameters':"
                                                                         " [" OF(
                                                                             "box",
                                                                             "veloc"
                                                                             "ity") ", " OF("box",
                                                                                            "rotati"
                                                                                            "on") ", " OF("box",
                                                                                                          "mass") ", " OF("box",
                                                                                                                          "friction") ", " LAYER("box") "]}",
     40, 0},
    {"ball on a sheet",
     "{" WORLD(
         "0.01") "'bodies': [{'name': 'ball', 'sphere': {'radius': 0.08}, 'density': 200, "
                 "'position': [0.03, 0.02, 0.1], 'velocity': [0.2, 0, -0.4]},"
                 "{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, "
                 "'height': "
                 "0.6, 'nx': 6, "
                 "'ny': 6}}, 'density': 0.3, 'pins': [{'nodes': 'border'}]}],"
                 "'objective': {'terms': [" WANT("ball") "]}, 'parameters': [" OF(
                     "ball",
                     "ve"
                     "lo"
                     "ci"
                     "t"
                     "y") ", " OF("ball",
                                  "mass") ", " OF("ball",
                                                  "friction") ", " OF("sheet",
                                                                      "density") ", " OF("sh"
                                                                                         "ee"
                                                                                         "t",
                                                                                         "co"
                                                                                         "nt"
                                                                                         "ac"
                                                                                         "t_"
                                                                                         "wi"
                                                                                         "dt"
                                                                                         "h") ","
                                                                                              " " OF("she"
                                                                                                     "et",
                                                                                                     "con"
                                                                                                     "tac"
                                                                                                     "t_"
                                                                                                     "sti"
                                                                                                     "ffn"
                                                                                                     "es"
                                                                                                     "s") "]}",
     25, 0},
    {"three boxes that fall on each other",
     "{" WORLD("0.005") "'bodies': [" FLOOR ", " BOX("low", "0.1, 0.08, 0.06", "0, 0, 0.06", ", 'euler_degrees': [20, 10, 30]") ", " BOX(
         "middle", "0.07, 0.1, 0.05", "0.01, 0.02, 0.16",
         ", 'euler_degrees': [50, 20, 70]") ", " BOX("high", "0.09, 0.06, 0.08", "-0.01, 0.01, 0.3",
                                                     ", 'euler_degrees': [10, "
                                                     "60, 20]") "],"
                                                                "'objective': "
                                                                "{'terms': "
                                                                "[" WANT("high") ", " WANT("low") "]}, 'parameters': [" OF("high", "velocity") ", " OF(
                                                                    "low",
                                                                    "mass") ","
                                                                            " " OF(
                                                                                "middle",
                                                                                "rotat"
                                                                                "ion") ", " OF("mid"
                                                                                               "dl"
                                                                                               "e",
                                                                                               "fri"
                                                                                               "cti"
                                                                                               "on") ","
                                                                                                     " " LAYER(
                                                                                                         "middle") "]}",
     60, 1e-4},
    {"bag with two bodies",
     "{" WORLD("0.01") "'bodies': [" BOX(
         "box", "0.1, 0.08, 0.06", "0.02, 0, 0.06",
         ", "
         "'euler_degrees': [20, 10, 30]") ", {'name': 'ball', 'sphere': {'radius': 0.05}, "
                                          "'density': "
                                          "300, 'position': [-0.1, 0.08, 0.11]}, {'name': 'bag', "
                                          "'type': 'cloth', 'mesh': {'sheet': "
                                          "{'width': 0.5, 'height': 0.5, 'nx': 6, 'ny': 6}}, "
                                          "'density': 0.3, 'pins': [{'nodes': "
                                          "'corners'}]}],"
                                          "'objective': {'terms': [" WANT("box") ", " WANT("ball") "]}, 'parameters': [" OF(
                                              "box",
                                              "velocity") ", " OF("ball",
                                                                  "mass") ", " OF("bag",
                                                                                  "stretch") ","
                                                                                             " " OF("bag", "friction") ", " OF(
                                                                                                 "b"
                                                                                                 "o"
                                                                                                 "x",
                                                                                                 "c"
                                                                                                 "o"
                                                                                                 "n"
                                                                                                 "t"
                                                                                                 "a"
                                                                                                 "c"
                                                                                                 "t"
                                                                                                 "_"
                                                                                                 "s"
                                                                                                 "t"
                                                                                                 "i"
                                                                                                 "f"
                                                                                                 "f"
                                                                                                 "n"
                                                                                                 "e"
                                                                                                 "s"
                                                                                                 "s") "]}",
     25, 1e-5},
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
