# A text file that is compiled in, so that no file is looked up at run time.
add_executable(firstlayer_compile_text ${PROJECT_SOURCE_DIR}/tools/compile_text.cpp)
target_compile_features(firstlayer_compile_text PRIVATE cxx_std_20)

# Gives `target`, which belongs to this folder, a source that defines the std::string_view firstlayer::SYMBOL.
function(firstlayer_compile_text target symbol text)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  add_custom_command(
    OUTPUT ${source}
    COMMAND firstlayer_compile_text ${symbol} ${text} ${source}
    DEPENDS firstlayer_compile_text ${text}
    VERBATIM
  )
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # each has a kText of its own
  target_sources(${target} PRIVATE ${source})
endfunction()
