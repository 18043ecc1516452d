/* lib/io/run_files.c: which files make up a run, and what the run is called. */
#include "lib/io/run_files.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const suffixes[] = {".xplane.pb", ".xplane.pb.gz", ".trace.json.gz", NULL};
static const char *const generic[] = {".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", NULL};

static int looks_like_one(const uint8_t *head, size_t length, const char **ret_why, int *more) {
    (void)more;
    *ret_why = "it does not look like one";
    return length >= 5 && !memcmp(head, "trace", 5);
}

static const struct ids_run_kinds kinds = {suffixes, generic, looks_like_one, NULL, NULL, NULL};

/* Makes an empty file and the folders above it. */
static void make(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder(name));
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static struct ids_run_list list;
static struct ids_error err;

static int find(const char *path) {
    ids_run_list_done(&list);
    err = (struct ids_error)IDS_ERROR_INIT;
    int code = ids_runs_find(path, &kinds, &list, &err);
    ck_assert_int_eq(code, err.code);
    if (code) ck_assert_uint_eq(list.run_count, 0);
    return code;
}

/* "name:file,file name:file" with the files relative to the test's folder. */
static const char *found(void) {
    static char text[2048];
    text[0] = '\0';
    for (size_t i = 0; i < list.run_count; i++) {
        const struct ids_run_files *run = &list.runs[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:", i ? " " : "", run->name);
        for (size_t k = 0; k < run->file_count; k++) {
            const char *slash = strrchr(run->files[k].path, '/');
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? "," : "",
                     slash ? slash + 1 : run->files[k].path);
        }
    }
    return text;
}

START_TEST(a_log_folder) {
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/b.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/a.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/a.trace.json.gz"); /* not the best suffix there */
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/._a.xplane.pb");
    make("logs/tad/notes.txt");
    static const char *const ways[] = {"logs",
                                       "logs/",
                                       "logs/tad",
                                       "logs/tad/plugins",
                                       "logs/tad/plugins/profile",
                                       "logs/tad/plugins/profile/2026_01_02_03_04_05"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        ck_assert_msg(find(in_folder(ways[i])) == 0, "%s", err.text);
        ck_assert_str_eq(found(), "tad:a.xplane.pb,b.xplane.pb");
    }
    ck_assert_str_eq(list.runs[0].path, in_folder("logs/tad/plugins/profile/2026_01_02_03_04_05"));
    int here = open(".", O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(chdir(in_folder("logs/tad")), 0);
    ck_assert_int_eq(find("."), 0);
    ck_assert_str_eq(found(), "tad:a.xplane.pb,b.xplane.pb");
    ck_assert_int_eq(fchdir(here), 0);
    close(here);
    ids_run_list_done(&list);
}
END_TEST

START_TEST(oldest_first) {
    make("logs/tad/plugins/profile/2026_01_02/a.xplane.pb");
    make("logs/tad/plugins/profile/2025_12_31/a.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_10/a.trace.json.gz");
    ck_assert_int_eq(find(in_folder("logs")), 0);
    ck_assert_str_eq(found(), "tad/2025_12_31:a.xplane.pb tad/2026_01_02:a.xplane.pb tad/2026_01_10:a.trace.json.gz");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(names_tell_neighbours_apart) {
    make("exp/step_00000100/plugins/profile/2026_01/a.xplane.pb");
    make("exp/step_00000200/plugins/profile/2026_02/a.xplane.pb");
    ck_assert_int_eq(find(in_folder("exp")), 0);
    ck_assert_str_eq(found(), "step_00000100:a.xplane.pb step_00000200:a.xplane.pb");
    make("same/one/run/plugins/profile/2026_01/a.xplane.pb");
    make("same/two/run/plugins/profile/2026_02/a.xplane.pb");
    make("same/two/run/plugins/profile/2026_03/a.xplane.pb");
    make("same/other/plugins/profile/2026_04/a.xplane.pb");
    ck_assert_int_eq(find(in_folder("same")), 0);
    for (size_t i = 0; i < list.run_count; i++) {
        for (size_t k = 0; k < i; k++) ck_assert_str_ne(list.runs[i].name, list.runs[k].name);
    }
    ck_assert_str_eq(list.runs[3].name, "other");
    make("flat/x/one.xplane.pb");
    make("flat/y/x/two.xplane.pb");
    ck_assert_int_eq(find(in_folder("flat")), 0);
    ck_assert_str_eq(found(), "flat/x:one.xplane.pb y/x:two.xplane.pb");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(a_single_file) {
    make("logs/tad/plugins/profile/2026_01/vm.xplane.pb");
    make("logs/other.xplane.pb");
    make("logs/unknown.bin");
    ck_assert_int_eq(find(in_folder("logs/tad/plugins/profile/2026_01/vm.xplane.pb")), 0);
    ck_assert_str_eq(found(), "tad:vm.xplane.pb");
    ck_assert_int_eq(find(in_folder("logs/other.xplane.pb")), 0);
    ck_assert_str_eq(found(), "other:other.xplane.pb");
    ck_assert_uint_ne(list.runs[0].files[0].inode, 0);
    ck_assert_int_ne(list.runs[0].files[0].mtime_ns, 0);
    ck_assert_int_eq(find(in_folder("logs/unknown.bin")), 0); /* content decides later */
    ck_assert_str_eq(found(), "unknown.bin:unknown.bin");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(what_has_no_identity) {
    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
    ck_assert_int_eq(find(in_folder("pipe")), 0);
    ck_assert_uint_eq(list.runs[0].files[0].inode, 0);
    int saved = dup(STDIN_FILENO), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    ck_assert_int_eq(find("-"), 0);
    ck_assert_str_eq(found(), "stdin:-");
    ck_assert_uint_eq(list.runs[0].files[0].inode, 0);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    ids_run_list_done(&list);
}
END_TEST

START_TEST(links) {
    make("real/vm.xplane.pb");
    make("logs/keep/readme");
    ck_assert_int_eq(symlink(in_folder("real/vm.xplane.pb"), in_folder("logs/keep/linked.xplane.pb")), 0);
    ck_assert_int_eq(symlink(folder, in_folder("logs/loop")), 0);
    ck_assert_int_eq(symlink(in_folder("nothing"), in_folder("logs/keep/gone.xplane.pb")), 0);
    ck_assert_int_eq(symlink(in_folder("logs"), in_folder("entry")), 0);
    ck_assert_int_eq(find(in_folder("logs")), 0);
    ck_assert_str_eq(found(),
                     "keep:gone.xplane.pb,linked.xplane.pb"); /* that there is no file is said when it is read */
    ck_assert_ptr_nonnull(strstr(list.runs[0].files[0].unreadable, "a link to a file that is not there"));
    ck_assert_ptr_null(list.runs[0].files[1].unreadable);
    ck_assert_uint_eq(list.note_count, 0);         /* a loop leads nowhere else */
    ck_assert_int_eq(find(in_folder("entry")), 0); /* a link that was asked for is followed */
    ck_assert_str_eq(found(), "keep:gone.xplane.pb,linked.xplane.pb");
    ck_assert_int_eq(symlink(in_folder("logs/keep"), in_folder("logs/latest")), 0); /* it is looked at anyway */
    ck_assert_int_eq(symlink(in_folder("real"), in_folder("logs/elsewhere")), 0);
    ck_assert_int_eq(find(in_folder("logs")), 0);
    ck_assert_str_eq(found(), "keep:gone.xplane.pb,linked.xplane.pb");
    ck_assert_uint_eq(list.note_count, 1);
    ck_assert_ptr_nonnull(strstr(list.notes[0], "logs/elsewhere' is a link to a folder, and is not followed"));
    ids_run_list_done(&list);
}
END_TEST

START_TEST(depth) {
    char name[256] = "d";
    for (int i = 1; i < 12; i++) strcat(name, "/d");
    strcat(name, "/vm.xplane.pb");
    make(name);
    ck_assert_int_eq(find(folder), 0); /* 12 folders below */
    remove_tree(in_folder("d"));
    memmove(name + 2, name, strlen(name) + 1);
    make(name);
    ck_assert_int_eq(find(folder), IDS_NOT_FOUND);
}
END_TEST

START_TEST(nothing_there) {
    make("logs/readme.txt");
    mkdir(in_folder("logs/vm.xplane.pb"), 0755); /* a folder of that name is none */
    ck_assert_int_eq(find(in_folder("logs")), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "*.xplane.pb, *.xplane.pb.gz, *.trace.json.gz"));
    ck_assert_int_eq(find(in_folder("missing")), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "missing"));
    ck_assert_int_eq(find(in_folder("logs/readme.txt/x")), IDS_IO);
}
END_TEST

/* Permissions bind everybody but root. */
START_TEST(unreadable_folders) {
    make("logs/secret/vm.xplane.pb");
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(chmod(in_folder("logs/secret"), 0), 0);
    int root = geteuid() == 0;
    if (root) ck_assert_int_eq(seteuid(65534), 0);
    int whole = find(in_folder("logs"));
    int said = strstr(err.text, "secret': Permission denied") != NULL;
    int direct = find(in_folder("logs/secret"));
    if (root) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(whole, IDS_IO);
    ck_assert(said);
    ck_assert_int_eq(direct, IDS_IO);
    make("logs/open/vm.xplane.pb");
    if (root) ck_assert_int_eq(seteuid(65534), 0);
    int beside = find(in_folder("logs"));
    if (root) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(beside, 0); /* a run that can be read is not held back by another */
    ck_assert_str_eq(found(), "open:vm.xplane.pb");
    ck_assert_uint_eq(list.unreadable_count, 1);
    ck_assert_str_eq(list.unreadable, in_folder("logs/secret"));
    chmod(in_folder("logs/secret"), 0755);
    ids_run_list_done(&list);
}
END_TEST

/* A file with that content. */
static void make_with(const char *name, const char *content) {
    make(name);
    FILE *file = fopen(in_folder(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    fclose(file);
}

START_TEST(other_forms) {
    make("r/plugins/profile/1/b.xplane.pb");
    make("r/plugins/profile/1/z.trace.json.gz");
    make("r/plugins/profile/1/b.trace.json.gz");
    make_with("r/plugins/profile/1/perfetto_trace.json.gz", "trace");
    ck_assert_int_eq(find(in_folder("r")), 0);
    ck_assert_str_eq(found(), "r:b.xplane.pb,z.trace.json.gz"); /* z is another host */
    ck_assert_uint_eq(list.runs[0].also_count, 1);
    ck_assert_str_eq(list.runs[0].also, in_folder("r/plugins/profile/1/b.trace.json.gz"));
    make("s/plugins/profile/1/b.xplane.pb");
    ck_assert_int_eq(find(in_folder("s")), 0);
    ck_assert_ptr_null(list.runs[0].also);
    make("t/plugins/profile/1/a.xplane.pb.gz"); /* some hosts packed, one in all forms */
    make("t/plugins/profile/1/b.xplane.pb");
    make("t/plugins/profile/1/c.xplane.pb.gz");
    make("t/plugins/profile/1/c.trace.json.gz");
    make("t/plugins/profile/1/c.xplane.pb");
    ck_assert_int_eq(find(in_folder("t")), 0);
    ck_assert_str_eq(found(), "t:a.xplane.pb.gz,b.xplane.pb,c.xplane.pb");
    ck_assert_uint_eq(list.runs[0].also_count, 2);
    /* What cannot be read is a host where it has the form of the others; of a host that is there in another form that
     * one is read, and of a lesser form nobody knows whether it is of the run. */
    ck_assert_int_eq(mkfifo(in_folder("t/plugins/profile/1/d.xplane.pb"), 0600), 0);
    ck_assert_int_eq(mkfifo(in_folder("t/plugins/profile/1/e.xplane.pb"), 0600), 0);
    make("t/plugins/profile/1/e.trace.json.gz");
    ck_assert_int_eq(mkfifo(in_folder("t/plugins/profile/1/f.trace.json.gz"), 0600), 0);
    ck_assert_int_eq(find(in_folder("t")), 0);
    ck_assert_str_eq(found(), "t:a.xplane.pb.gz,b.xplane.pb,c.xplane.pb,d.xplane.pb,e.trace.json.gz");
    ck_assert_uint_eq(list.runs[0].also_count, 4);
    ids_run_list_done(&list);
}
END_TEST

START_TEST(generic_endings) {
    for (int i = 0; i < 100; i++) {
        char name[64];
        snprintf(name, sizeof name, "data/%d.json", i);
        make_with(name, "{\"no\": 1}");
    }
    ck_assert_int_eq(find(in_folder("data")), IDS_NOT_FOUND);
    make_with("data/big.json", "trace of one");
    make_with("data/other.json", "trace of another");
    make_with("data/other.json.gz", "trace of another, as if packed");
    ck_assert_int_eq(find(in_folder("data")), 0);
    ck_assert_str_eq(found(), "big:big.json other:other.json.gz");
    ck_assert_str_eq(list.runs[1].path, in_folder("data/other.json.gz"));
    ck_assert_str_eq(list.runs[1].also, in_folder("data/other.json"));
    ck_assert_uint_eq(list.runs[1].also_count, 1);
    make("data/a.trace.json.gz"); /* an ending that says it: a run beside them */
    make_with("data/perfetto_trace.json.gz", "trace that JAX makes of the same");
    ck_assert_int_eq(find(in_folder("data")), 0);
    ck_assert_str_eq(found(), "big:big.json data:a.trace.json.gz other:other.json.gz");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(ranks_of_one_job) {
    make_with("k/sampled_rank-0.json.gz", "trace");
    make_with("k/sampled_rank-1.json.gz", "trace");
    make_with("k/sampled_rank-10.json", "trace");
    ck_assert_int_eq(find(in_folder("k")), 0);
    ck_assert_str_eq(found(), "k:sampled_rank-0.json.gz,sampled_rank-1.json.gz,sampled_rank-10.json");
    ck_assert_str_eq(list.runs[0].path, in_folder("k"));
    make_with("k/base_rank-0.json.gz", "trace"); /* another job; and words that end in rank are none */
    make_with("k/frank1.json", "trace");
    make_with("k/frank2.json", "trace");
    ck_assert_int_eq(find(in_folder("k")), 0);
    ck_assert_str_eq(found(), "base_rank-0:base_rank-0.json.gz frank1:frank1.json frank2:frank2.json "
                              "sampled_rank-0:sampled_rank-0.json.gz,sampled_rank-1.json.gz,sampled_rank-10.json");
    /* one job writes twice */
    make_with("t/trace_1700000000_worker0.json", "trace");
    make_with("t/trace_1700000003_worker1.json", "trace");
    make_with("t/trace_1700000100_worker0.json", "trace");
    make_with("t/trace_1700000101_worker1.json", "trace");
    ck_assert_int_eq(find(in_folder("t")), 0);
    ck_assert_str_eq(found(), "trace_1700000000_worker0:trace_1700000000_worker0.json,trace_1700000003_worker1.json "
                              "trace_1700000100_worker0:trace_1700000100_worker0.json,trace_1700000101_worker1.json");
    ids_run_list_done(&list);
}
END_TEST

/* `<host>_<process>.<time in ms>.pt.trace.json`, as tensorboard_trace_handler writes them. */
START_TEST(pytorch_names) {
    make_with("p/vm_11.1700000000100.pt.trace.json", "trace");
    make_with("p/vm_12.1700000000300.pt.trace.json.gz", "trace");
    ck_assert_int_eq(find(in_folder("p")), 0);
    ck_assert_str_eq(found(), "p:vm_11.1700000000100.pt.trace.json,vm_12.1700000000300.pt.trace.json.gz");
    make_with("p/vm_11.1700000005000.pt.trace.json", "trace"); /* the next cycle */
    make_with("p/vm_12.1700000005100.pt.trace.json", "trace");
    make_with("p/vm_99.1700009999999.pt.trace.json", "trace"); /* an hour later, another process */
    make_with("p/vm_98.1700000000200.pt.trace.json", "not one");
    ck_assert_int_eq(find(in_folder("p")), 0);
    ck_assert_uint_eq(list.run_count, 3);
    ck_assert_uint_eq(list.runs[0].file_count, 2);
    ck_assert_uint_eq(list.runs[1].file_count, 2);
    ck_assert_uint_eq(list.runs[2].file_count, 1);
    ck_assert_str_eq(list.runs[2].name, "vm_99.1700009999999");
    ids_run_list_done(&list);
}
END_TEST

/* ---- archives ---- */

struct content {
    const char *path, *text;
};

static void make_tar(const char *name, const char *extra, const struct content *members, size_t count) {
    struct archive *writer = archive_write_new();
    size_t length = strlen(name);
    if (!strcmp(name + length - 4, ".zip")) {
        archive_write_set_format_zip(writer);
    } else {
        archive_write_set_format_pax_restricted(writer);
    }
    if (!strcmp(name + length - 3, ".gz")) archive_write_add_filter_gzip(writer);
    ck_assert_int_eq(archive_write_open_filename(writer, in_folder(name)), ARCHIVE_OK);
    for (size_t i = 0; i < count + (extra != NULL); i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, i < count ? members[i].path : extra);
        archive_entry_set_filetype(entry, i < count ? AE_IFREG : AE_IFLNK);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_mtime(entry, 1600000000, 0);
        size_t bytes = i < count ? strlen(members[i].text) : 0;
        archive_entry_set_size(entry, (la_int64_t)bytes);
        if (i == count) archive_entry_set_symlink(entry, "elsewhere");
        ck_assert_int_eq(archive_write_header(writer, entry), ARCHIVE_OK);
        if (bytes) ck_assert_int_eq(archive_write_data(writer, members[i].text, bytes), (la_ssize_t)bytes);
        archive_entry_free(entry);
    }
    ck_assert_int_eq(archive_write_close(writer), ARCHIVE_OK);
    archive_write_free(writer);
}

static void check_content(const struct ids_run_file *file, const char *wanted) {
    struct ids_source *source = NULL;
    char text[64];
    size_t length;
    ck_assert_msg(ids_run_file_open(file, &source, &err) == 0, "%s", err.text);
    ck_assert_int_eq(ids_source_copy(source, 0, text, sizeof text, &length, &err), 0);
    ck_assert_uint_eq(length, strlen(wanted));
    ck_assert_int_eq(memcmp(text, wanted, length), 0);
    ck_assert_str_eq(ids_source_path(source), file->path);
    ids_source_close(source);
}

static const struct content members[] = {
    {"tad/plugins/profile/2026_01/b.xplane.pb", "tad b"},
    {"./lcam/plugins/profile/2026_02/vm.xplane.pb", "lcam"},
    {"tad/plugins/profile/2026_01/a.xplane.pb", "tad a"},
    {"tad/plugins/profile/2026_01/a.trace.json.gz", "json"},
    {"tad/notes.txt", "notes"},
    {"kineto/rank0.json", "trace 0"},
    {"kineto/rank1.json", "trace 1"},
    {"kineto/conf.json", "{}"},
};
enum { MEMBERS = sizeof members / sizeof *members };

START_TEST(in_an_archive) {
    static const char *const names[] = {"runs.tar", "runs.tar.gz", "runs.zip", "misnamed.gz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make_tar(names[i], NULL, members, MEMBERS);
        ck_assert_msg(find(in_folder(names[i])) == 0, "%s", err.text);
        ck_assert_str_eq(found(), "tad:a.xplane.pb,b.xplane.pb lcam:vm.xplane.pb kineto:rank0.json,rank1.json");
        char path[600];
        snprintf(path, sizeof path, "%s/tad/plugins/profile/2026_01", in_folder(names[i]));
        ck_assert_str_eq(list.runs[0].path, path);
        ck_assert_uint_eq(list.runs[0].also_count, 1);
        ck_assert_uint_eq(list.note_count, 0);
        check_content(&list.runs[2].files[1], "trace 1");
        check_content(&list.runs[0].files[0], "tad a"); /* back, and forward */
        check_content(&list.runs[0].files[1], "tad b");
        check_content(&list.runs[1].files[0], "lcam");
        check_content(&list.runs[2].files[0], "trace 0");
        const struct ids_run_file *file = &list.runs[1].files[0];
        struct stat status;
        ck_assert_int_eq(stat(in_folder(names[i]), &status), 0);
        ck_assert_uint_eq(file->inode, status.st_ino);
        ck_assert_uint_eq(file->size, 4);
        ck_assert_int_eq(file->written_ns, INT64_C(1600000000000000000));
    }
    ids_run_list_done(&list);
}
END_TEST

START_TEST(archives_among_runs) {
    make("logs/tad/plugins/profile/2026_00/vm.xplane.pb");
    make_tar("logs/old.zip", "link", members, 2);
    make_tar("logs/older.tar.gz", NULL, members, 2);
    ck_assert_int_eq(find(in_folder("logs")), 0);
    ck_assert_uint_eq(list.run_count, 5);
    ck_assert_uint_eq(list.damaged, 0);
    ck_assert_uint_eq(list.note_count, 1);
    ck_assert_ptr_nonnull(strstr(list.notes[0], "old.zip': left out: 1 link ('link')"));
    for (size_t i = 0; i < 5; i++) {
        const struct ids_run_file *file = &list.runs[i].files[0];
        if (file->archive) check_content(file, strstr(file->path, "tad") ? "tad b" : "lcam"); /* one after the other */
        for (size_t k = 0; k < i; k++) ck_assert_str_ne(list.runs[i].name, list.runs[k].name);
    }
    make_with("logs/broken.tar", "nothing of the kind");
    ck_assert_int_eq(truncate(in_folder("logs/older.tar.gz"), 60), 0);
    ck_assert_int_eq(find(in_folder("logs")), 0); /* the others are found all the same */
    ck_assert_uint_eq(list.run_count, 3);
    ck_assert_uint_eq(list.damaged, 2);
    ids_run_list_done(&list);
    ck_assert_int_lt(find(in_folder("logs/broken.tar")), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "broken.tar': not a tar or zip"));
    make_tar("empty.tar", NULL, members + 4, 1);
    ck_assert_int_eq(find(in_folder("empty.tar")), IDS_NOT_FOUND);
}
END_TEST

IDS_RUN_FIXTURE("run_files", make_folder, remove_folder, a_log_folder, oldest_first, names_tell_neighbours_apart,
                a_single_file, what_has_no_identity, links, depth, nothing_there, unreadable_folders, other_forms,
                generic_endings, ranks_of_one_job, pytorch_names, in_an_archive, archives_among_runs)
