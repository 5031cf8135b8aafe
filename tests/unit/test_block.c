#include "check.h"
#include "math/block_factor.h"
#include <stdlib.h>
#include <string.h>
int main(void){
  uint64_t seed=1;
  for(int trial=0;trial<300;trial++){
    int n=1+(int)check_random(&seed,0,40); int32_t size[64]; int32_t pair[400][2];
    int same=(int)check_random(&seed,0,3);
    for(int i=0;i<n;i++) size[i]=same==0?6:same==1?3:1+(int)check_random(&seed,0,6);
    int pc=(int)check_random(&seed,0,(double)(n*4)); if(pc>400)pc=400;
    for(int p=0;p<pc;p++){pair[p][0]=(int)check_random(&seed,0,n);pair[p][1]=(int)check_random(&seed,0,n);}
    for(int sym=1;sym>=0;sym--){
      cr_block_matrix m={0};
      CHECK(cr_block_matrix_build(&m,n,size,pc,(const int32_t(*)[2])pair,sym)==CAROM_OK);
      for(int j=0;j<n;j++)for(int e=m.start.items[j];e<m.start.items[j+1];e++){
        int i=m.row.items[e]; double b[36];
        for(int q=0;q<36;q++)b[q]=check_random(&seed,-1,1);
        if(i==j){ for(int r=0;r<size[i];r++)for(int c=0;c<=r;c++){ if(sym)b[r*size[i]+c]=b[c*size[i]+r]; if(r==c)b[r*size[i]+c]+=60;} }
        cr_block_matrix_add(&m,i,j,b);
        if(!sym&&i!=j){for(int q=0;q<36;q++)b[q]=check_random(&seed,-1,1);cr_block_matrix_add(&m,j,i,b);}
      }
      cr_block_factor*f; CHECK(cr_block_factor_create(&f)==CAROM_OK);
      CHECK(cr_block_factor_analyse(f,&m)==CAROM_OK);
      for(int k=0;k<(sym?2:1);k++){
      CHECK((sym&&k==0?cr_block_factor_cholesky(f,&m):cr_block_factor_lu(f,&m))==CAROM_OK);
      for(int t=0;t<2;t++){
      double x[400],y[400],z[400]; for(int i=0;i<m.scalar_count;i++)x[i]=check_random(&seed,-1,1);
      (t?cr_block_matrix_apply_transposed:cr_block_matrix_apply)(&m,x,y); memcpy(z,y,sizeof z);
      (t?cr_block_factor_solve_transposed:cr_block_factor_solve)(f,z);
      double err=0; for(int i=0;i<m.scalar_count;i++)err=fmax(err,fabs(z[i]-x[i]));
      CHECK_NEAR(err,0,1e-12);
      }}
      cr_block_factor_destroy(f); cr_block_matrix_release(&m);
    }
  }
  return check_failures!=0;
}
