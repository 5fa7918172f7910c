#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "nax/core/error.hpp"

// The coefficients of the methods that solve_ivp knows.
NAX_BEGIN
namespace integrate::detail {

// An explicit method of seven stages, the last one at the end of the step, which is the next step's first.
// (a's row i: the weights of stages 0 to i of stage i + 1; b: those of the step, which are a's last row;
// error: those of the difference to the embedded method.)
struct ExplicitMethod {
  static constexpr std::size_t stages = 7;
  double c[stages];
  double a[stages - 1][stages - 1];
  double error[stages];
  void (*dense)(double at, double* weights);  // of the stages at the part `at` of the step
};

// Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption
// (2011).
inline constexpr ExplicitMethod tsit5{
    {0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1},
    {{0.161},
     {-0.008480655492356989, 0.335480655492357},
     {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
     {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
     {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
     {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
      2.324710524099774}},
    {-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
     0.5823571654525552, -0.45808210592918697, 1. / 66},
    [](double x, double* b) {
      const double x2 = x * x;
      b[0] = -1.0530884977290216 * x * (x - 1.3299890189751412) *
             (x2 - 1.4364028541716351 * x + 0.7139816917074209);
      b[1] = 0.1017 * x2 * (x2 - 2.1966568338249754 * x + 1.2949852507374631);
      b[2] = 2.490627285651252793 * x2 * (x2 - 2.38535645472061657 * x + 1.57803468208092486);
      b[3] = -16.54810288924490272 * (x - 1.21712927295533244) * (x - 0.61620406037800089) * x2;
      b[4] = 47.37952196281928122 * (x - 1.203071208372362603) * (x - 0.658047292653547382) * x2;
      b[5] = -34.87065786149660974 * (x - 1.2) * (x - 0.666666666666666667) * x2;
      b[6] = 2.5 * (x - 1) * (x - 0.6) * x2;
    }};

// J. R. Dormand and P. J. Prince, A family of embedded Runge-Kutta formulae (1980); L. F. Shampine, Some
// practical Runge-Kutta formulas (1986), between steps.
inline constexpr ExplicitMethod dopri5{
    {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
    {{1. / 5},
     {3. / 40, 9. / 40},
     {44. / 45, -56. / 15, 32. / 9},
     {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
     {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
     {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}},
    {-71. / 57600, 0, 71. / 16695, -71. / 1920, 17253. / 339200, -22. / 525, 1. / 40},
    [](double x, double* b) {
      constexpr double p[7][4] = {
          {1, -8048581381. / 2820520608, 8663915743. / 2820520608, -12715105075. / 11282082432},
          {0, 0, 0, 0},
          {0, 131558114200. / 32700410799, -68118460800. / 10900136933, 87487479700. / 32700410799},
          {0, -1754552775. / 470086768, 14199869525. / 1410260304, -10690763975. / 1880347072},
          {0, 127303824393. / 49829197408, -318862633887. / 49829197408, 701980252875. / 199316789632},
          {0, -282668133. / 205662961, 2019193451. / 616988883, -1453857185. / 822651844},
          {0, 40617522. / 29380423, -110615467. / 29380423, 69997945. / 29380423}};
      for (int i = 0; i < 7; ++i) b[i] = x * (p[i][0] + x * (p[i][1] + x * (p[i][2] + x * p[i][3])));
    }};

// A Rosenbrock method: stages k_i with (1 / (h gamma) - J) k_i = f(t + c_i h, y + sum a_ij k_j) +
// sum C_ij k_j / h + d_i h df/dt. Each stage behind `rows` starts from the one before and its k. The last k
// is the error, and the step adds it. Between the ends: (1 - x) y + x end + x (1 - x) (dense_0 + x dense_1 +
// ...).
struct RosenbrockMethod {
  static constexpr std::size_t most = 8;
  std::size_t stages, rows;
  double gamma;
  double c[most], d[most];
  double a[5][5];                // of stages 1 to rows
  double C[most - 1][most - 1];  // of stages 1 on
  double dense[3][most];
};
// E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), IV.7: RODAS, of order 4(3), for
// stiff systems.
inline constexpr RosenbrockMethod rodas4{
    6,
    4,
    0.25,
    {0, 0.386, 0.21, 0.63, 1, 1},
    {0.25, -0.1043, 0.1035, -0.03620000000000023},
    {{1.544},
     {0.9466785280815826, 0.2557011698983284},
     {3.314825187068521, 2.896124015972201, 0.9986419139977817},
     {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950}},
    {{-5.6688},
     {-2.430093356833875, -0.2063599157091915},
     {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
     {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
     {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}},
    {{10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662},
     {-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872}}};

// G. Steinebach, Construction of Rosenbrock-Wanner method Rodas5P (2023): of order 5(4), for stiff systems.
inline constexpr RosenbrockMethod rodas5{
    8,
    5,
    0.21193756319429014,
    {0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1},
    {0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069},
    {{3.0},
     {2.849394379747939, 0.45842242204463923},
     {-6.954028509809101, 2.489845061869568, -10.358996098473584},
     {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
     {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
      0.030198172008377946}},
    {{-14.155112264123755},
     {-17.97296035885952, -2.859693295451294},
     {147.12150275711716, -1.41221402718213, 71.68940251302358},
     {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
     {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
     {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
      -28.087943162872662},
     {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
      -54.66780262877968, -9.48861652309627}},
    {{25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
      1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
     {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
      15.98066361424651, -6.789040303419874, -6.710236069923372},
     {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
      -59.78993625266729, -0.15582684282751913, 4.883087185713722}}};

// An implicit method whose first stage is explicit: the step before's last one. Stage i solves k_i = f(t +
// c_i h, y + h sum a_ij k_j), j to i, with gamma for a_ii; the last stage ends the step, and the last but one
// is the embedded method's. A. Kvaerno, Singly diagonally implicit Runge-Kutta methods with an explicit first
// stage (2004): of order 5(4), for stiff systems.
struct ImplicitMethod {
  static constexpr std::size_t stages = 7;
  double gamma;
  double c[stages];
  double a[stages][stages - 1];
  double dense[3][stages];  // of x^2, x^3, x^4 at the part x of a step; k[0] alone has a term in x
};
inline constexpr ImplicitMethod kvaerno5{
    0.26,
    {0, 0.52, 1.230333209967908, 0.8957659843500759, 0.4363936098586476, 1, 1},
    {{},
     {0.26},
     {0.13, 0.84033320996790809},
     {0.22371961478320505, 0.47675532319799699, -0.06470895363112615},
     {0.16648564323248321, 0.10450018841591720, 0.03631482272098715, -0.13090704451073998},
     {0.13855640231268224, 0, -0.04245337201752043, 0.02446657898003141, 0.61943039072480676},
     {0.13659751177640291, 0, -0.05496908796538376, -0.04118626728321046, 0.62993304899016403,
      0.06962479448202728}},
    {{-2.0720375887956783, 0, 0.84272431906164891, -0.66658571364223929, 3.2569288143993345,
      -0.60502552056967984, -0.75600431045339656},
     {1.6904652246969709, 0, -1.9053249899848348, 1.1684263581516363, -3.994125432838028, 1.4885502190674702,
      1.5520086209067945},
     {-0.48183012412488974, 0, 1.0076315829578024, -0.54302691179260842, 1.367129667428854,
      -0.8138999040157634, -0.53600431045339825}}};

struct Method {
  const ExplicitMethod* explicit_method;
  const RosenbrockMethod* rosenbrock;
  const ImplicitMethod* implicit;
  double exponent;  // of the error's share in the next step's length
  const char* name;
};
inline Method method_named(std::string_view name) {
  if (name == "tsit5") return {&tsit5, nullptr, nullptr, -1. / 5, "tsit5"};
  if (name == "dopri5" || name == "RK45") return {&dopri5, nullptr, nullptr, -1. / 5, "dopri5"};
  if (name == "rodas4" || name == "rodas") return {nullptr, &rodas4, nullptr, -1. / 4, "rodas4"};
  if (name == "rodas5") return {nullptr, &rodas5, nullptr, -1. / 5, "rodas5"};
  if (name == "kvaerno5") return {nullptr, nullptr, &kvaerno5, -1. / 5, "kvaerno5"};
  raise<ValueError>(
      {"solve_ivp: method must be 'tsit5', 'dopri5', 'rodas4', 'rodas5' or 'kvaerno5', not '", name, "'"});
}

}  // namespace integrate::detail
NAX_END
