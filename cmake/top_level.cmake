# Conveniences for who builds this project itself; a project that contains it decides these things alone.

# Without a build type CMake compiles without optimisation, which is never what somebody wants to measure or use.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

find_program(FIRSTLAYER_CCACHE ccache)
if(FIRSTLAYER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FIRSTLAYER_CCACHE})
endif()
