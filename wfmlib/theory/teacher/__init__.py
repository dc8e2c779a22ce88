"""Students of a teacher: solutions where a rule is behind the labels.

To read in this order: `teacher_student` (students of the teacher's own kind, Bayes-optimal);
`margin_students` (students that reach a margin) on the saddle points of two files:
`taught_surroundings` (around one student) and `taught_replicas` (of infinitely many students).
"""
