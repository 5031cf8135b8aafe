// Every way in which a scene can be wrong has its message: file, line, column, path, what was found
// and what would be accepted.
#include "check.h"
#include "scene/build.h"
#include "scene/goals.h"
#include <string.h>

// The status of reading and building the text, and its message.
static carom_status attempt(const char* text, carom_error* error)
{
    cr_scene scene = {0};
    cr_model* model = NULL;
    cr_goal goal = {0};
    *error = (carom_error){0};
    carom_status status = cr_scene_parse(&scene, text, strlen(text), "s.json", ".", error);
    if (status == CAROM_OK) {
        status = cr_build_model(&scene, &model, error);
    }
    if (status == CAROM_OK) {
        status = cr_goals_build(&scene, model, &goal, error);
    }
    cr_goal_release(&goal);
    cr_model_destroy(model);
    cr_scene_release(&scene);
    return status;
}

static void expect(int line, const char* text, carom_status status, const char* const* parts)
{
    carom_error error;
    const carom_status got = attempt(text, &error);
    int good = got == status && (got == CAROM_OK || error.status == status);
    for (int i = 0; parts[i]; i++) {
        good = good && strstr(error.message, parts[i]);
    }
    if (!good) {
        check_failures++;
        printf("%s:%d: status %d, wanted %d: %s\n", __FILE__, line, got, status, error.message);
        for (int i = 0; parts[i]; i++) {
            printf("   wanted: %s\n", parts[i]);
        }
    }
}

#define REFUSED(text, status, ...)                                                                 \
    expect(__LINE__, text, status, (const char* const[]){__VA_ARGS__, NULL})
#define BODY(rest) "{\"carom\": 1, \"bodies\": [{" rest "}]}"
#define BOX "\"mesh\": {\"box\": {\"size\": [1, 1, 1]}}"
#define CLOTH                                                                                      \
    "\"type\": \"cloth\", \"mesh\": {\"sheet\": {\"width\": 1, \"height\": 1, \"nx\": 8, \"ny\": " \
    "8}}"

static void test_the_frame_of_the_file(void)
{
    REFUSED("[]", CAROM_ERR_SCENE, "s.json:1:1: the scene is []", "has to be an object");
    REFUSED("{}", CAROM_ERR_SCENE, "s.json:1:1: the scene lacks \"carom\"");
    REFUSED("{\"carom\": 1}", CAROM_ERR_SCENE, "lacks \"bodies\"");
    REFUSED("{\"carom\": 2, \"bodies\": []}", CAROM_ERR_SCENE, "s.json:1:11: carom is 2",
            "a whole number from 1 to 1");
    REFUSED("{\"carom\": 1, \"bodes\": []}", CAROM_ERR_SCENE,
            "s.json:1:14: the scene has no "
            "\"bodes\"; did you mean \"bodies\"?",
            "it takes carom, title");
    REFUSED("{\"carom\": 1, \"bodies\": {}}", CAROM_ERR_SCENE,
            "bodies is an object; it has to be "
            "a list");
    REFUSED("{\"carom\": 1, \"bodies\": [3]}", CAROM_ERR_SCENE,
            "s.json:1:25: bodies[0] is 3 (a number); it has to be an object { }");
    REFUSED("{\"carom\": 1, \"bodies\": [], }", CAROM_ERR_FORMAT, "s.json:1:28: a comma");
}

static void test_the_world(void)
{
    REFUSED("{\"carom\": 1, \"world\": {\n  \"duration\": 0}, \"bodies\": []}", CAROM_ERR_SCENE,
            "s.json:2:15: world.duration is 0 s; it has to be a number from 1e-09 to 1e+09 s");
    REFUSED("{\"carom\": 1, \"world\": {\"dt\": \"1\"}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world.dt is \"1\"; it has to be a number from");
    REFUSED("{\"carom\": 1, \"world\": {\"dt\": -0.01}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world.dt is -0.01 s");
    REFUSED("{\"carom\": 1, \"world\": {\"contact\": \"hard\", \"elasticity\": \"linearized\"}, "
            "\"bodies\": []}",
            CAROM_ERR_SCENE,
            "world.elasticity is \"linearized\", which needs \"contact\": "
            "\"barrier\"");
    REFUSED("{\"carom\": 1, \"world\": {\"cloth_solver\": \"paper\"}, \"bodies\": []}",
            CAROM_ERR_SCENE,
            "s.json:1:24: world has no \"cloth_solver\" any more; \"elasticity\": "
            "\"linearized\" is the linearised step");
    REFUSED("{\"carom\": 1, \"world\": {\"contact\": \"hard\", \"iteration_budget\": 4}, "
            "\"bodies\": []}",
            CAROM_ERR_SCENE,
            "world.iteration_budget is not 0, which needs \"contact\": "
            "\"barrier\"");
    REFUSED("{\"carom\": 1, \"world\": {\"gravity\": [0, 1]}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world.gravity is [0, 1]; it has to be a list of 3 numbers in m/s^2");
    REFUSED("{\"carom\": 1, \"world\": {\"gravity\": [0, null, 1]}, \"bodies\": []}",
            CAROM_ERR_SCENE, "world.gravity[1] is null; it has to be a number in m/s^2");
    REFUSED("{\"carom\": 1, \"world\": {\"gravity\": -9.81}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world.gravity is -9.81 m/s^2; it has to be a list of 3 numbers");
    REFUSED(
        "{\"carom\": 1, \"world\": {\"zones\": \"gobal\"}, \"bodies\": []}", CAROM_ERR_SCENE,
        "world.zones is \"gobal\"; did you mean \"global\"?; it has to be one of local, global");
    REFUSED("{\"carom\": 1, \"world\": {\"max_events\": 1.5}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world.max_events is 1.5; it has to be a whole number");
    REFUSED("{\"carom\": 1, \"world\": {\"gravty\": [0,0,0]}, \"bodies\": []}", CAROM_ERR_SCENE,
            "world has no \"gravty\"; did you mean \"gravity\"?");
}

static void test_numbers_of_bodies(void)
{
    REFUSED(BODY(BOX ", \"mass\": -1"), CAROM_ERR_SCENE,
            "bodies[0].mass is -1 kg; it has to be a number from 1e-12 to 1e+15 kg");
    REFUSED(BODY(BOX ", \"mass\": 0"), CAROM_ERR_SCENE, "bodies[0].mass is 0 kg");
    REFUSED(BODY(BOX ", \"density\": -1"), CAROM_ERR_SCENE, "bodies[0].density is -1 kg/m^3");
    REFUSED(BODY(BOX ", \"mass\": NaN"), CAROM_ERR_FORMAT, "s.json:1:72", "has to be finite");
    REFUSED(BODY(BOX ", \"position\": [0, 0, 1e400]"), CAROM_ERR_FORMAT, "has to be finite");
    REFUSED(BODY(BOX ", \"position\": [0, 0, 1e12]"), CAROM_ERR_SCENE,
            "bodies[0].position[2] is 1000000000000 m");
    REFUSED(BODY(BOX ", \"restitution\": 1.5"), CAROM_ERR_SCENE, "bodies[0].restitution is 1.5");
    REFUSED(BODY(BOX ", \"friction\": true"), CAROM_ERR_SCENE, "bodies[0].friction is true");
    REFUSED(BODY(BOX ", \"mass\": 1, \"density\": 2"), CAROM_ERR_SCENE,
            "has both \"mass\" and \"density\"; one of them has to go");
    REFUSED(BODY(BOX ", \"inertia\": [1, 1, 3]"), CAROM_ERR_SCENE,
            "principal moments 1, 1, 3 kg m^2", "none larger than the sum of the other two");
    REFUSED(BODY(BOX ", \"inertia\": [1, 1, 1, 0]"), CAROM_ERR_SCENE, "has 4 numbers for inertia");
    REFUSED(BODY(BOX ", \"material\": \"ruber\""), CAROM_ERR_SCENE,
            "is of \"ruber\", which materials does not have");
    REFUSED("{\"carom\": 1, \"materials\": {\"rubber\": {\"friction\": -1}}, \"bodies\": []}",
            CAROM_ERR_SCENE, "materials.rubber.friction is -1");
    REFUSED("{\"carom\": 1, \"materials\": {\"rubber\": {}}, \"bodies\": [{" BOX
            ", \"material\": \"ruber\"}]}",
            CAROM_ERR_SCENE, "did you mean \"rubber\"?");
    REFUSED(BODY(BOX ", \"quaternion\": [0, 0, 0, 0]"), CAROM_ERR_SCENE, "quaternion of no length");
    REFUSED(BODY(BOX ", \"rotation\": {\"axis\": [0, 0, 0], \"degrees\": 3}"), CAROM_ERR_SCENE,
            "rotation.axis of no length");
    REFUSED(BODY(BOX ", \"rotation\": {\"axis\": [0, 0, 1]}"), CAROM_ERR_SCENE,
            "needs one of \"degrees\", \"radians\"");
    REFUSED(BODY(BOX ", \"rotation\": 30"), CAROM_ERR_SCENE,
            "bodies[0].rotation is 30; it has to be a list of 3 numbers in rad, or an object");
    REFUSED(BODY(BOX ", \"rotation\": [0,0,0], \"quaternion\": [1,0,0,0]"), CAROM_ERR_SCENE,
            "has both \"rotation\" and \"quaternion\"");
    REFUSED(BODY(BOX ", \"scale\": 0"), CAROM_ERR_SCENE, "has a scale of 0");
    REFUSED(BODY(BOX ", \"lock\": [\"w\"]"), CAROM_ERR_SCENE, "bodies[0].lock[0] is \"w\"",
            "one of x, y, z, rx, ry, rz");
    REFUSED(BODY(BOX ", \"type\": \"ridgid\""), CAROM_ERR_SCENE,
            "bodies[0].type is \"ridgid\"; did you mean \"rigid\"?");
}

static void test_what_belongs_to_which_type(void)
{
    REFUSED(BODY(BOX ", \"pins\": []"), CAROM_ERR_SCENE,
            "bodies[0] is rigid and has no \"pins\"; that is for bodies of type cloth");
    REFUSED(BODY(BOX ", \"bend\": 1"), CAROM_ERR_SCENE, "is rigid and has no \"bend\"");
    REFUSED(BODY(BOX ", \"type\": \"fixed\", \"velocity\": [1, 0, 0]"), CAROM_ERR_SCENE,
            "bodies[0] is fixed and has no \"velocity\"; that is for bodies of type rigid, cloth");
    REFUSED(BODY(BOX ", \"script\": {}"), CAROM_ERR_SCENE, "that is for bodies of type kinematic");
    REFUSED(BODY(CLOTH ", \"mass\": 1"), CAROM_ERR_SCENE, "is cloth and has no \"mass\"");
    REFUSED(BODY("\"sphere\": {\"radius\": 1}, \"thickness\": 0.1"), CAROM_ERR_SCENE,
            "is a sphere: its radius is its thickness");
}

static void test_meshes(void)
{
    REFUSED(BODY("\"name\": \"a\""), CAROM_ERR_SCENE,
            "bodies[0] needs one of \"mesh\", \"sphere\", \"capsule\"");
    REFUSED(BODY(BOX ", \"sphere\": {\"radius\": 1}"), CAROM_ERR_SCENE,
            "has both \"mesh\" and \"sphere\"");
    REFUSED(BODY("\"mesh\": {}"), CAROM_ERR_SCENE, "bodies[0].mesh names nothing");
    REFUSED(BODY("\"mesh\": {\"boks\": {}}"), CAROM_ERR_SCENE,
            "bodies[0].mesh has no \"boks\"; did you mean \"box\"?", "file, vertices");
    REFUSED(BODY("\"mesh\": {\"box\": {\"w\": 1}}"), CAROM_ERR_SCENE,
            "bodies[0].mesh.box has no \"w\"", "it takes x, y, z, size");
    REFUSED(BODY("\"mesh\": {\"box\": {\"x\": -1}}"), CAROM_ERR_SCENE,
            "bodies[0].mesh.box.x is -1 m; it has to be a number from");
    REFUSED(BODY("\"mesh\": {\"box\": {}, \"torus\": {}}"), CAROM_ERR_SCENE,
            "has both \"box\" and \"torus\"");
    REFUSED(BODY("\"mesh\": {\"torus\": {\"major\": 1, \"minor\": 2}}"), CAROM_ERR_SCENE,
            "has a mesh that cannot be made", "do not fit together");
    REFUSED(BODY("\"mesh\": {\"file\": \"no/such.obj\"}"), CAROM_ERR_FILE,
            "s.json:1:43: bodies[0] has no mesh: no/such.obj");
    REFUSED(BODY("\"mesh\": {\"sheet\": {\"nx\": 2, \"ny\": 2}}"), CAROM_ERR_MESH,
            "bodies[0] does not enclose a solid", "8 open edges in 1 hole", "fixed or kinematic");
    REFUSED(BODY("\"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "
                 "\"faces\": [[0,2,1],[0,1,3],[0,3,2]]}"),
            CAROM_ERR_MESH, "3 open edges", "\"repair\": true in the mesh would make it one",
            "1 holes filled");
    REFUSED(BODY("\"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "
                 "\"faces\": [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]}"),
            CAROM_ERR_MESH, "inside out");
    REFUSED(BODY("\"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": [[0,1,3]]}"),
            CAROM_ERR_SCENE,
            "has mesh.faces[0] with vertex 3; vertices are whole numbers from 0 "
            "to 2");
    REFUSED(BODY("\"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": [[0,1,1]]}"),
            CAROM_ERR_SCENE, "a face that names one vertex twice");
    REFUSED(BODY("\"mesh\": {\"box\": {\"size\": [1, 1, 1e-4]}}, \"thickness\": 0.01, "
                 "\"inset\": true"),
            CAROM_ERR_SCENE, "too thin to be inset by 0.0125 m, its thickness and contact layer");
    REFUSED(BODY("\"type\": \"fixed\", \"mesh\": {\"sheet\": {}}, \"thickness\": 0.01, "
                 "\"inset\": true"),
            CAROM_ERR_SCENE, "has an open mesh");
}

static void test_cloth(void)
{
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": [0, 81]}]"), CAROM_ERR_SCENE,
            "bodies[0].pins[0].nodes[1] is 81, but the cloth has only nodes 0 to 80");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": [-1]}]"), CAROM_ERR_SCENE,
            "bodies[0].pins[0].nodes[0] is -1; it has to be a whole number");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": \"cornes\"}]"), CAROM_ERR_SCENE,
            "did you mean \"corners\"?");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": {\"box\": [[5,5,5],[6,6,6]]}}]"), CAROM_ERR_SCENE,
            "bodies[0].pins[0].nodes picks no node");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": \"border\"}, {\"nodes\": [0]}]"), CAROM_ERR_SCENE,
            "bodies[0].pins[1] pins node 0, which an earlier pin holds already");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": [0], \"script\": {\"angular_velocity\": "
                       "[0, 0, 1]}}]"),
            CAROM_ERR_SCENE, "turns its nodes");
    REFUSED(BODY(CLOTH ", \"thickness\": 0.07"), CAROM_ERR_SCENE,
            "is cloth with a thickness of 0.07 m and a shortest edge of 0.125 m");
    REFUSED(BODY(CLOTH ", \"c12\": 2000"), CAROM_ERR_SCENE, "c12 is 2000 N/m");
    REFUSED(BODY("\"type\": \"cloth\", \"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[2,2,2]], "
                 "\"faces\": [[0,1,2]]}"),
            CAROM_ERR_SCENE, "has a mesh that cannot be cloth");
    REFUSED(BODY("\"type\": \"cloth\", \"rest\": \"uv\", \"mesh\": {\"vertices\": "
                 "[[0,0,0],[1,0,0],[0,1,0]], \"faces\": [[0,1,2]]}"),
            CAROM_ERR_SCENE, "has no texture coordinates");
    REFUSED(BODY(CLOTH ", \"node_forces\": [{\"nodes\": [0]}]"), CAROM_ERR_SCENE,
            "needs \"force\" or \"forces\"");
    // a strip whose last faces run back through its first
    REFUSED(BODY("\"type\": \"cloth\", \"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0],"
                 "[0,2,2],[1,2,2],[0.5,0.4,-0.2],[0.6,0.4,-0.2]], \"faces\": "
                 "[[0,1,2],[1,3,2],[2,3,4],[3,5,4],[4,5,6],[5,7,6]]}"),
            CAROM_ERR_INTERSECTING, "starts folded into itself near");
}

static void test_scripts(void)
{
#define KINEMATIC BOX ", \"type\": \"kinematic\", \"script\": "
    REFUSED(BODY(KINEMATIC "{\"keys\": [{\"time\": 0}, {\"time\": 0}]}"), CAROM_ERR_SCENE,
            "has key 1 at 0 s, not after the one before it");
    REFUSED(BODY(KINEMATIC "{\"keys\": [{\"time\": 0}], \"velocity\": [1,0,0]}"), CAROM_ERR_SCENE,
            "bodies[0].script has both \"keys\" and \"velocity\"");
    REFUSED(BODY(KINEMATIC "{\"keys\": []}"), CAROM_ERR_SCENE,
            "bodies[0].script.keys is []; it has to be a list of at least 1");
    REFUSED(BODY(KINEMATIC "{\"keys\": [{\"shift\": [1,0,0]}]}"), CAROM_ERR_SCENE,
            "bodies[0].script.keys[0] lacks \"time\"");
    REFUSED(BODY(CLOTH ", \"pins\": [{\"nodes\": [0], \"script\": {\"keys\": [{\"time\": 1}, "
                       "{\"time\": 0}]}}]"),
            CAROM_ERR_SCENE, "bodies[0].pins[0].script has key 1 at 0 s");
}

static void test_too_many(void)
{
    REFUSED(BODY(BOX ", \"copies\": {\"count\": [1000, 1000, 1000], \"spacing\": [2, 2, 2]}"),
            CAROM_ERR_SCENE,
            "bodies[0] makes 1000000000 bodies in all; a scene has at most "
            "1000000");
    REFUSED(BODY(BOX ", \"copies\": {\"count\": [2147483646, 2147483646, 2147483646]}"),
            CAROM_ERR_SCENE, "a scene has at most 1000000");
    REFUSED(BODY(BOX ", \"copies\": {\"count\": 4}"), CAROM_ERR_SCENE,
            "bodies[0].copies.count is 4; it has to be a list of at least 3");
    REFUSED(BODY(BOX ", \"copies\": {\"count\": [0, 1, 1]}"), CAROM_ERR_SCENE,
            "bodies[0].copies.count[0] is 0");
    REFUSED(BODY("\"mesh\": {\"sphere\": {\"subdivisions\": 7}}, \"type\": \"fixed\", \"copies\": "
                 "{\"count\": [1000, 1000, 1]}"),
            CAROM_ERR_SCENE, "more than 100000000 vertices");
}

static void test_starts_that_cannot_be(void)
{
#define TWO(a, b)                                                                                  \
    "{\"carom\": 1, \"bodies\": [\n{\"name\": \"one\", " a "},\n{\"name\": \"two\", " b "}]}"
    REFUSED(TWO(BOX, BOX ", \"position\": [0.5, 0.3, 0.2]"), CAROM_ERR_INTERSECTING,
            "s.json:3:1: \"one\" and \"two\" intersect at the start, near (", "move them apart");
    REFUSED(TWO(BOX, "\"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1]}}"), CAROM_ERR_INTERSECTING,
            "\"two\" starts wholly inside \"one\", at (");
    REFUSED(TWO(BOX, "\"sphere\": {\"radius\": 0.1}"), CAROM_ERR_INTERSECTING,
            "\"two\" starts wholly inside \"one\"");
    REFUSED(TWO(BOX, BOX ", \"position\": [1, 0, 0]"), CAROM_ERR_INTERSECTING, "\"inset\": true");
    REFUSED(TWO(BOX, "\"sphere\": {\"radius\": 0.5}, \"position\": [0, 0, 0.9]"),
            CAROM_ERR_INTERSECTING, "\"one\" and \"two\" overlap by 0.1");
    REFUSED(TWO("\"sphere\": {\"radius\": 0.5}", "\"sphere\": {\"radius\": 0.5}, "
                                                 "\"position\": [0, 0, 0.5]"),
            CAROM_ERR_INTERSECTING, "overlap by 0.5 m");
    REFUSED(TWO("\"sphere\": {\"radius\": 2}", BOX ", \"position\": [0.1, 0.2, 0.9]"),
            CAROM_ERR_INTERSECTING, "overlap");
    REFUSED(TWO(BOX, "\"name\": \"one\", " BOX), CAROM_ERR_FORMAT, "stands twice");
    REFUSED("{\"carom\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}, {\"name\": \"a\", " BOX
            ", \"position\": [3, 0, 0]}]}",
            CAROM_ERR_SCENE, "two bodies are named \"a\"");
    // the same, let through
    REFUSED("{\"carom\": 1, \"bodies\": [{\"name\": \"one\", " BOX "},{\"name\": \"two\", " BOX
            ", \"position\": [0.5, 0.3, 0.2]}], \"pairs\": [{\"between\": [\"one\", \"two\"], "
            "\"contact\": false}]}",
            CAROM_OK, "");
    REFUSED("{\"carom\": 1, \"bodies\": [{\"name\": \"one\", " BOX "},{\"name\": \"two\", " BOX
            ", \"position\": [0.5, 0.3, 0.2]}, {\"name\": \"three\", " BOX
            ", \"position\": [0.5, 0.7, 0.2]}], \"pairs\": [{\"between\": [\"one\", \"two\"], "
            "\"contact\": false}]}",
            CAROM_ERR_INTERSECTING, "\"three\"");
}

static void test_pairs(void)
{
#define PAIRS(rest)                                                                                \
    "{\"carom\": 1, \"bodies\": [{\"name\": \"one\", " BOX "},{\"name\": \"two\", " BOX            \
    ", \"position\": [5, 0, 0]}], \"pairs\": [" rest "]}"
    REFUSED(PAIRS("{\"between\": [\"one\", \"tow\"]}"), CAROM_ERR_SCENE,
            "pairs[0] names \"tow\", which is no body; did you mean \"two\"?");
    REFUSED(PAIRS("{\"between\": [\"one\"]}"), CAROM_ERR_SCENE,
            "pairs[0].between is [\"one\"]; it has to be a list of at least 2");
    REFUSED(PAIRS("{\"between\": [\"one\", \"two\", \"one\"]}"), CAROM_ERR_SCENE,
            "pairs[0] is between 3 bodies");
    REFUSED(PAIRS("{\"between\": [\"one\", \"two\"]}, {\"between\": [\"two\", \"one\"]}"),
            CAROM_ERR_SCENE, "names \"one\" and \"two\" twice");
    REFUSED(PAIRS("{\"between\": [\"one\", \"two\"], \"frction\": 1}"), CAROM_ERR_SCENE,
            "did you mean \"friction\"?");
}

static void test_objectives_and_parameters(void)
{
#define GOAL(rest)                                                                                 \
    "{\"carom\": 1, \"bodies\": [{\"name\": \"box\", " BOX "},{\"name\": \"rag\", " CLOTH          \
    ", \"position\": [0, 0, 3]}], " rest "}"
#define TERM(rest) GOAL("\"objective\": {\"terms\": [{" rest "}]}")
#define PARAMETER(rest) GOAL("\"parameters\": [{" rest "}]")
    REFUSED(TERM("\"what\": \"postion\", \"of\": \"box\""), CAROM_ERR_SCENE,
            "objective.terms[0].what is \"postion\"; did you mean \"position\"?");
    REFUSED(TERM("\"what\": \"position\""), CAROM_ERR_SCENE, "needs \"of\", the body");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"bx\""), CAROM_ERR_SCENE,
            "is of \"bx\", which is no body; did you mean \"box\"?");
    REFUSED(TERM("\"what\": \"rotation\", \"of\": \"rag\""), CAROM_ERR_SCENE,
            "asks for the rotation of cloth");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"box\", \"node\": 3"), CAROM_ERR_SCENE,
            "only cloth has nodes");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"rag\", \"node\": 81"), CAROM_ERR_SCENE,
            "the cloth has only nodes 0 to 80");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"box\", \"target\": [1, 2]"), CAROM_ERR_SCENE,
            "a position has 3 numbers");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"box\", \"at\": [2, 1]"), CAROM_ERR_SCENE,
            "times have to ascend");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"box\", \"at\": [1, 2], \"target\": "
                 "[[1, 2, 3]]"),
            CAROM_ERR_SCENE, "with 2 times");
    REFUSED(TERM("\"what\": \"position\", \"of\": \"box\", \"at\": \"begin\""), CAROM_ERR_SCENE,
            "one of end, always");
    REFUSED(PARAMETER("\"of\": \"box\", \"what\": \"bend\""), CAROM_ERR_SCENE,
            "parameters[0] asks for bend of \"box\", which is rigid and has none");
    REFUSED(PARAMETER("\"what\": \"mass\""), CAROM_ERR_SCENE, "of the world, which has none");
    REFUSED(PARAMETER("\"of\": \"box\", \"what\": \"gravity\""), CAROM_ERR_SCENE,
            "which is rigid and has none");
    REFUSED(PARAMETER("\"of\": \"box\", \"what\": \"mass\", \"min\": 2, \"max\": 1"),
            CAROM_ERR_SCENE, "min 2 above max 1");
    REFUSED(PARAMETER("\"of\": \"box\", \"what\": \"velocity\", \"min\": [1, 2]"), CAROM_ERR_SCENE,
            "\"min\" with 2 numbers; it has to be one, or 3");
}

static void test_edits(void)
{
    static const char text[] = "{\"carom\": 1, \"bodies\": [{\"name\": \"crate\", " BOX "}]}";
    static const struct {
        const char *path, *value, *message;
    } wrong[] = {
        {"bodies.crte.mass", "1", "nothing there is named \"crte\"; did you mean \"crate\"?"},
        {"bodies[4].mass", "1", "there is no [4]; the list has 1 elements"},
        {"bodies.crate.mass", "-1", "bodies.crate.mass=-1: bodies[0].mass is -1 kg"},
        {"bodies.crate.mas", "1", "bodies[0] has no \"mas\"; did you mean \"mass\"?"},
        {"bodies.crate.mass", "[", "bodies.crate.mass=[: expected a value"},
        {"bodies.crate.name.x", "1", "is no object"},
        {"", "3", "bodies"},
        {"world..dt", "1", "is no path"},
        {"world.dt", "fast", "world.dt is \"fast\"; it has to be a number"},
        {"world.zones", "loca", "did you mean \"local\"?"},
    };
    cr_scene scene = {0};
    carom_error error = {0};
    CHECK(cr_scene_parse(&scene, text, strlen(text), "s.json", ".", &error) == CAROM_OK);
    const int32_t count = scene.json.value.count;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const carom_status status = cr_scene_set(&scene, wrong[i].path, wrong[i].value, &error);
        CHECK(status != CAROM_OK);
        CHECK(scene.json.value.count == count);
        if (wrong[i].path[0] && !strstr(error.message, wrong[i].message)) {
            CHECK(!"the message is as it should be");
            printf("  %s\n  wanted %s\n", error.message, wrong[i].message);
        }
    }
    cr_scene_release(&scene);
}

int main(void)
{
    RUN(test_the_frame_of_the_file);
    RUN(test_the_world);
    RUN(test_numbers_of_bodies);
    RUN(test_what_belongs_to_which_type);
    RUN(test_meshes);
    RUN(test_cloth);
    RUN(test_scripts);
    RUN(test_too_many);
    RUN(test_starts_that_cannot_be);
    RUN(test_pairs);
    RUN(test_objectives_and_parameters);
    RUN(test_edits);
    return check_failures != 0;
}
