# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: One of two replicas goes on where the other was

  The chart of Karpenter for AWS runs two replicas, of which one leads. The other one waits until the lease has run out.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 12s after their launch and are Ready 2s later

  @karpenter-4403-hand-over
  Scenario: The leader of two replicas ends twice while machines boot that it has launched
    Given a cloud of instances
    And the target has 2 replicas
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    # A creation whose caller is killed before the answer is answered with 504, though there is the NodeClaim.
    Then "karpenter" has ever sent "create" of "nodeclaims" 6 times within 1m
    When the leader of the target is killed
    Then every pod is Running within 6m
    When "Deployment/web" is scaled to 9
    Then "karpenter" has ever sent "create" of "nodeclaims" 9 times within 2m
    When the leader of the target is stopped
    Then every pod is Running within 6m
    And 12m from now, exactly 9 NodeClaims have been created since the start
    And "karpenter" has never sent "delete" of "nodeclaims" within 1s

  @karpenter-4403-two-replicas
  Scenario: Two replicas are upgraded one by one as pods wait, and their lease is left behind
    Given the release before the target runs in its place until it is upgraded
    And the target has 2 replicas
    And the target has the environment variables:
      | BATCH_IDLE_DURATION | 15s |
      | BATCH_MAX_DURATION  | 3m  |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then "replicaset-controller" has ever sent "create" of "pods" 6 times within 1m
    When the target is upgraded, and its lease is left behind
    Then every pod is Running within 6m
    When "Deployment/web" is scaled to 9
    Then "replicaset-controller" has ever sent "create" of "pods" 9 times within 1m
    When the target is rolled back
    Then every pod is Running within 6m
    And 12m from now, exactly 9 NodeClaims have been created since the start
