#include <regex>
#include <map>
#include <iostream>
#include <algorithm>
#include <functional>
int main(){std::map<int,std::string>m;std::regex r("a+");std::cout<<m.size()<<std::regex_match("aaa",r);}
