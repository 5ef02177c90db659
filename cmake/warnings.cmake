# The warnings of this project's own code. They are errors in the presets dev and lint, and not under the sanitizers,
# whose added code makes GCC see faults that are none. A project that contains this one sees none of them.
option(FIRSTLAYER_WARNINGS "Compile with warnings" ${PROJECT_IS_TOP_LEVEL})

function(firstlayer_warnings target)
  if(FIRSTLAYER_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  endif()
endfunction()
