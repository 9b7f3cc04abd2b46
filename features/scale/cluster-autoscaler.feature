# Cluster Autoscaler publishes that a round with 1,000 nodes of 30 pods each is done in 10 s.
# Played by BenchmarkAutoscalers.

@cluster-autoscaler @externalgrpc @scale
Feature: Cluster Autoscaler in a cluster of a thousand nodes

  Scenario: A thousand nodes with 30 pods each are full, and a hundred pods more are to run
    Given a cluster
    And the cloud also has these instance types:
      | name  | cpu | memory | price |
      | thick | 30  | 64     | 1     |
    And a cloud of node groups
    And these node groups:
      | name | type  | min  | max  |
      | all  | thick | 1000 | 1010 |
    And Cluster Autoscaler
    And the durations of Cluster Autoscaler's rounds are recorded
    When these objects from the file "thirty-thousand-pods.yaml" are created
    Then "node" has recorded "running" of "pods" at least 30000 times within 60m
    When "Deployment/team-0/web" is scaled to 3100
    Then "node" has recorded "running" of "pods" at least 100 times within 30m
