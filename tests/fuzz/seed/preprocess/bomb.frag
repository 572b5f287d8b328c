#define X0 x x
#define X1 X0 X0
#define X2 X1 X1
#define Y(a) a a
X2 Y(Y(Y(X1)))
