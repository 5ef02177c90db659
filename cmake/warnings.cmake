# The warnings of this project's own code. They are errors where CMAKE_COMPILE_WARNING_AS_ERROR says so (the dev,
# asan and tsan presets); a project that contains this one sees none of them.
function(firstlayer_warnings target)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  endif()
endfunction()
