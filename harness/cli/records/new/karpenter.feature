# A failure as a story: what is there (Given), what a user asks for or what breaks
# (When), and what ought to hold all the same (Then). The Thens state the right
# behaviour, so a build with the bug fails one of them.
#
# "nodestorm sentences" prints all that a step can say, "nodestorm lint" what is wrong.

Feature: A machine whose Node is not ready yet is still the machine the pod waits for

  # The tag is the ID of the record beside this file. Without the record the scenario
  # runs as well: nodestorm run SCENARIO-ID.feature --target karpenter@v1.6.4
  @SCENARIO-ID
  Scenario: A Node that needs two and a half minutes to become Ready
    Given a cluster without the admission plugin DefaultTolerationSeconds
    # Without another Ready Node, Kubernetes itself evicts nothing and taints nothing.
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 2m30s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    # A Then waits for a span of virtual time, which passes in seconds.
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And a pod of the Deployment "web" is Running within 5m
